// Part of the stand-in for ggml.
#include "ggml.h"
