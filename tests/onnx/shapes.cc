// Prints the results of ONNX models, a line for each: FILE, name, shape, why its size is unknown;
// or FILE, "refused", the reason. Separated by tabs; for check_cases.py.

#include <iostream>

#include "berth/io.h"
#include "berth/onnx.h"

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const auto file = berth::FileView::Open(argv[i]);
    const auto model =
        file ? berth::ReadOnnx(file->bytes(), "model") : tl::unexpected(file.error());
    if (!model) {
      std::cout << argv[i] << "\trefused\t" << model.error().message << "\n";
      continue;
    }
    for (const berth::Tensor& tensor : model->graph.tensors) {
      if (!tensor.output) continue;
      std::cout << argv[i] << "\t" << tensor.name << "\t" << tensor.shape << "\t"
                << tensor.unplanned << "\n";
    }
  }
}
