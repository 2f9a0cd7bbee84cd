#!/usr/bin/env python3
"""Writes cells.onnx: an image classifier of searched cells, without its weights.

Usage: make_cells.py [OUTPUT]     (needs Python's onnx, as Debian packages it: python3-onnx)

A network like those found by architecture search: a stem, then cells that combine the results of the
two previous cells by separable convolutions, pools and skips, and concatenate the parts. Such cells
have many orders, and program order is rarely the best. The cell was designed for Berth. Weights are
inputs of the model, so it runs with any values; all shapes are in the file.
"""

import sys

import onnx
from onnx import TensorProto, helper, shape_inference

CHANNELS = 16
SIZE = 96
CLASSES = 10


class Network:
    def __init__(self):
        self.nodes = []
        self.inputs = [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, SIZE, SIZE])]
        self.scope = ""

    def weight(self, name, shape):
        name = f"{self.scope}{name}"
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        return name

    def add(self, op, name, inputs, **attributes):
        name = f"{self.scope}{name}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def conv(self, x, name, n_in, n_out, kernel, stride=1, groups=1, dilation=1):
        pad = dilation * (kernel // 2)
        w = self.weight(f"{name}.w", [n_out, n_in // groups, kernel, kernel])
        b = self.weight(f"{name}.b", [n_out])
        return self.add("Conv", name, [x, w, b], kernel_shape=[kernel] * 2, strides=[stride] * 2,
                        pads=[pad] * 4, dilations=[dilation] * 2, group=groups)

    def separable(self, x, name, channels, kernel, stride=1, dilation=1):
        """ReLU, a convolution for each channel, a convolution for each pixel."""
        x = self.add("Relu", f"{name}.relu", [x])
        x = self.conv(x, f"{name}.depthwise", channels, channels, kernel, stride, channels, dilation)
        return self.conv(x, f"{name}.pointwise", channels, channels, 1)

    def pool(self, x, name, stride=1):
        return self.add("MaxPool", name, [x], kernel_shape=[3, 3], strides=[stride] * 2,
                        pads=[1, 1, 1, 1])

    def skip(self, x, name, channels, stride):
        return x if stride == 1 else self.conv(x, name, channels, channels, 1, stride)


def cell(net, index, before, last, channels, reduce):
    """`before` and `last` are (value, channels, size) of the two cells before this one."""
    net.scope = f"cell{index}/"
    stride = 2 if reduce else 1
    # The older input may still have the size before a reduction.
    b = net.conv(net.add("Relu", "before.relu", [before[0]]), "before", before[1], channels, 1,
                 before[2] // last[2])
    a = net.conv(net.add("Relu", "last.relu", [last[0]]), "last", last[1], channels, 1)

    left = net.separable(a, "0.left", channels, 5, stride)
    right = net.skip(b, "0.right", channels, stride)
    n0 = net.add("Add", "0", [left, right])
    left = net.separable(b, "1.left", channels, 3, stride)
    right = net.pool(a, "1.right", stride)
    n1 = net.add("Add", "1", [left, right])
    left = net.separable(n0, "2.left", channels, 3)
    right = net.separable(n1, "2.right", channels, 3, dilation=2)
    n2 = net.add("Add", "2", [left, right])
    left = net.pool(n0, "3.left")
    right = net.separable(a, "3.right", channels, 3, stride, dilation=2)
    n3 = net.add("Add", "3", [left, right])
    joined = net.add("Concat", "out", [n0, n1, n2, n3], axis=1)
    return joined, 4 * channels, last[2] // stride


def build():
    net = Network()
    net.scope = "stem/"
    stem = net.conv("image", "conv", 3, 3 * CHANNELS, 3, 2)
    before = last = (stem, 3 * CHANNELS, SIZE // 2)
    channels = CHANNELS
    for index in range(8):
        reduce = index in (2, 5)
        channels *= 2 if reduce else 1
        before, last = last, cell(net, index, before, last, channels, reduce)
    net.scope = "head/"
    x = net.add("GlobalAveragePool", "pool", [last[0]])
    x = net.add("Flatten", "flatten", [x])
    w = net.weight("w", [last[1], CLASSES])
    b = net.weight("b", [CLASSES])
    net.scope = ""
    net.add("Gemm", "scores", [x, w, b])
    scores = helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, CLASSES])
    graph = helper.make_graph(net.nodes, "cells", net.inputs, [scores])
    model = helper.make_model(graph, producer_name="make_cells.py",
                              opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
    model = shape_inference.infer_shapes(model, strict_mode=True)
    onnx.checker.check_model(model, full_check=True)
    return model


if __name__ == "__main__":
    onnx.save(build(), sys.argv[1] if len(sys.argv) > 1 else "cells.onnx")
