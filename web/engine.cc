// The module of WebAssembly is the C interface itself; this file is the program that it is linked as.
#include "berth/berth.h"
