#!/usr/bin/env python3
"""Writes the models of this folder, each as small as what it shows allows.

They are what exporters write: open dimensions, control flow, external data, quantisation, operators
of other domains, odd names. Weights are zeros or ones; only shapes matter to a memory planner.

    python -m venv venv && venv/bin/pip install onnx skl2onnx
    venv/bin/python tests/models/make_models.py [FOLDER]

onnx 1.23 wrote the checked-in files, skl2onnx 1.20 those that start with skl_ (skipped without it).
"""

import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

FLOAT = TensorProto.FLOAT
INT64 = TensorProto.INT64
BOOL = TensorProto.BOOL


def value(name, shape, element=FLOAT):
    """A tensor's type: an int is a size, a text a symbolic name, None an unnamed open size."""
    return helper.make_tensor_value_info(name, element, shape)


def weight(name, shape, kind=np.float32):
    return onnx.numpy_helper.from_array(np.ones(shape, kind), name)


def ints(name, values):
    return onnx.numpy_helper.from_array(np.array(values, np.int64), name)


def node(kind, inputs, outputs, **attributes):
    return helper.make_node(kind, inputs, outputs, **attributes)


def graph(nodes, inputs, outputs, weights=(), values=(), name="main_graph"):
    return helper.make_graph(nodes, name, inputs, outputs, list(weights), value_info=list(values))


def model(main, opset=17, domains=(), ir=8, producer="pytorch"):
    sets = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in domains]
    return helper.make_model(main, opset_imports=sets, ir_version=ir, producer_name=producer)


def classifier(batch, height=32, width=32, names=("input", "logits"), producer="pytorch"):
    """Two convolutions and a linear layer, as torch.onnx writes them."""
    x, y = names
    nodes = [
        node("Conv", [x, "conv1.weight"], ["/conv1/Conv_output_0"], name="/conv1/Conv",
             kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        node("Relu", ["/conv1/Conv_output_0"], ["/relu/Relu_output_0"], name="/relu/Relu"),
        node("Conv", ["/relu/Relu_output_0", "conv2.weight"], ["/conv2/Conv_output_0"],
             name="/conv2/Conv", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
        node("Relu", ["/conv2/Conv_output_0"], ["/relu_1/Relu_output_0"], name="/relu_1/Relu"),
        node("GlobalAveragePool", ["/relu_1/Relu_output_0"], ["/pool/Pool_output_0"],
             name="/pool/GlobalAveragePool"),
        node("Flatten", ["/pool/Pool_output_0"], ["/Flatten_output_0"], name="/Flatten", axis=1),
        node("Gemm", ["/Flatten_output_0", "fc.weight", "fc.bias"], [y], name="/fc/Gemm", transB=1),
    ]
    weights = [weight("conv1.weight", (4, 3, 3, 3)), weight("conv2.weight", (8, 4, 3, 3)),
               weight("fc.weight", (10, 8)), weight("fc.bias", (10,))]
    return model(graph(nodes, [value(x, [batch, 3, height, width])], [value(y, [batch, 10])],
                       weights), producer=producer)


def open_batch():
    return classifier("batch_size")


def open_unnamed():
    """tf2onnx leaves open dimensions without a name."""
    return classifier(None, names=("serving_default_input:0", "StatefulPartitionedCall:0"),
                      producer="tf2onnx")


def open_dotted():
    """paddle2onnx: names with dots, all of batch, height and width open."""
    dims = [f"p2o.DynamicDimension.{i}" for i in range(3)]
    nodes = [
        node("Conv", ["x", "conv2d_0.w_0"], ["conv2d_0.tmp_0"], name="p2o.Conv.0",
             kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
        node("HardSigmoid", ["conv2d_0.tmp_0"], ["hardswish_0.tmp_0"], name="p2o.HardSigmoid.0"),
        node("Mul", ["conv2d_0.tmp_0", "hardswish_0.tmp_0"], ["hardswish_0.tmp_1"],
             name="p2o.Mul.0"),
        node("Resize", ["hardswish_0.tmp_1", "", "scales"], ["nearest_0.tmp_0"],
             name="p2o.Resize.0", mode="nearest"),
        node("Sigmoid", ["nearest_0.tmp_0"], ["sigmoid_0.tmp_0"], name="p2o.Sigmoid.0"),
    ]
    scales = onnx.numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "scales")
    return model(graph(nodes, [value("x", [dims[0], 3, dims[1], dims[2]])],
                       [value("sigmoid_0.tmp_0", [dims[0], 4, None, None])],
                       [weight("conv2d_0.w_0", (4, 3, 3, 3)), scales]), 13, producer="PaddlePaddle")


def dims_follow():
    """Attention with a cache: some open sizes are sums and products of others."""
    nodes = [
        node("MatMul", ["hidden", "q.weight"], ["q"], name="/q/MatMul"),
        node("MatMul", ["hidden", "k.weight"], ["k"], name="/k/MatMul"),
        node("Shape", ["hidden"], ["shape"], name="/Shape"),
        node("Gather", ["shape", "zero"], ["batch_of"], name="/Gather"),
        node("Gather", ["shape", "one"], ["length_of"], name="/Gather_1"),
        node("Unsqueeze", ["batch_of", "axis0"], ["batch_1"], name="/Unsqueeze"),
        node("Unsqueeze", ["length_of", "axis0"], ["length_1"], name="/Unsqueeze_1"),
        node("Concat", ["batch_1", "length_1", "heads", "size"], ["split"], name="/Concat", axis=0),
        node("Reshape", ["q", "split"], ["q4"], name="/Reshape"),
        node("Reshape", ["k", "split"], ["k4"], name="/Reshape_1"),
        node("Transpose", ["q4"], ["qt"], name="/Transpose", perm=[0, 2, 1, 3]),
        node("Transpose", ["k4"], ["kt"], name="/Transpose_1", perm=[0, 2, 1, 3]),
        node("Concat", ["past_key", "kt"], ["present_key"], name="/Concat_1", axis=2),
        node("Transpose", ["present_key"], ["keys"], name="/Transpose_2", perm=[0, 1, 3, 2]),
        node("MatMul", ["qt", "keys"], ["scores"], name="/MatMul"),
        node("Softmax", ["scores"], ["probabilities"], name="/Softmax", axis=-1),
        node("MatMul", ["probabilities", "present_key"], ["context"], name="/MatMul_1"),
        node("Reshape", ["context", "merged"], ["by_head"], name="/Reshape_2"),
    ]
    weights = [weight("q.weight", (16, 16)), weight("k.weight", (16, 16)), ints("zero", 0),
               ints("one", 1), ints("axis0", [0]), ints("heads", [4]), ints("size", [4]),
               ints("merged", [-1, 4])]
    inputs = [value("hidden", ["batch", "sequence", 16]),
              value("past_key", ["batch", 4, "past_sequence", 4])]
    outputs = [value("by_head", ["batch*heads*sequence", 4]),
               value("present_key", ["batch", 4, "past_sequence + sequence", 4])]
    return model(graph(nodes, inputs, outputs, weights))


def qdq_int8():
    """A quantised convolution and addition between QuantizeLinear and DequantizeLinear."""
    nodes = []

    def quantise(x, of):
        nodes.append(node("QuantizeLinear", [x, "scale", "zero_point"], [of + "_q"],
                          name=of + "_QuantizeLinear"))
        nodes.append(node("DequantizeLinear", [of + "_q", "scale", "zero_point"], [of + "_dq"],
                          name=of + "_DequantizeLinear"))
        return of + "_dq"

    x = quantise("input", "input")
    nodes.append(node("DequantizeLinear", ["weight_q", "scale", "zero_point"], ["weight_dq"],
                      name="weight_DequantizeLinear"))
    nodes.append(node("Conv", [x, "weight_dq"], ["conv"], name="conv", kernel_shape=[3, 3],
                      pads=[1, 1, 1, 1]))
    nodes.append(node("Relu", ["conv"], ["relu"], name="relu"))
    y = quantise("relu", "relu")
    nodes.append(node("Add", [x, y], ["add"], name="add"))
    z = quantise("add", "add")
    nodes.append(node("GlobalAveragePool", [z], ["output"], name="pool"))
    weights = [onnx.numpy_helper.from_array(np.array(0.5, np.float32), "scale"),
               onnx.numpy_helper.from_array(np.array(0, np.int8), "zero_point"),
               weight("weight_q", (8, 8, 3, 3), np.int8)]
    return model(graph(nodes, [value("input", [1, 8, 32, 32])], [value("output", [1, 8, 1, 1])],
                       weights), producer="onnx.quantize")


def conditional(width_of_else):
    """Two branches whose results have 64 and `width_of_else` columns."""
    then = graph([node("MatMul", ["x", "wide"], ["then_product"], name="then_product"),
                  node("Relu", ["then_product"], ["then_out"], name="then_relu")],
                 [], [value("then_out", [8, 64])], name="then_body")
    other = graph([node("MatMul", ["x", "other"], ["else_product"], name="else_product"),
                   node("Tanh", ["else_product"], ["else_out"], name="else_tanh")],
                  [], [value("else_out", [8, width_of_else])], name="else_body")
    nodes = [node("ReduceSum", ["x"], ["sum"], name="sum", keepdims=0),
             node("Greater", ["sum", "limit"], ["is_large"], name="is_large"),
             node("If", ["is_large"], ["chosen"], name="choose", then_branch=then,
                  else_branch=other),
             node("Sigmoid", ["chosen"], ["y"], name="sigmoid")]
    weights = [onnx.numpy_helper.from_array(np.array(0, np.float32), "limit"),
               weight("wide", (8, 64)), weight("other", (8, width_of_else))]
    width = 64 if width_of_else == 64 else None
    return model(graph(nodes, [value("x", [8, 8])], [value("y", [8, width])], weights))


def if_same():
    return conditional(64)


def if_differ():
    return conditional(32)


def loop(trips):
    """A state of fixed size, and one output per iteration."""
    body = graph([node("Identity", ["condition_in"], ["condition_out"], name="keep_on"),
                  node("MatMul", ["state_in", "step"], ["product"], name="product"),
                  node("Tanh", ["product"], ["state_out"], name="tanh"),
                  node("ReduceMean", ["state_out"], ["mean"], name="mean", axes=[1], keepdims=0)],
                 [value("i", [], INT64), value("condition_in", [], BOOL),
                  value("state_in", [16, 16])],
                 [value("condition_out", [], BOOL), value("state_out", [16, 16]),
                  value("mean", [16])], name="body")
    inputs = [value("x", [16, 16])]
    weights = [weight("step", (16, 16)),
               onnx.numpy_helper.from_array(np.array(True), "always")]
    if trips is None:
        inputs.append(value("trips", [], INT64))
    else:
        weights.append(ints("trips", trips))
    nodes = [node("Relu", ["x"], ["start"], name="relu"),
             node("Loop", ["trips", "always", "start"], ["last", "means"], name="loop", body=body)]
    return model(graph(nodes, inputs, [value("last", [16, 16]),
                                       value("means", [trips, 16])], weights))


def loop_known():
    return loop(6)


def loop_unknown():
    return loop(None)


def scan():
    body = graph([node("Add", ["sum_in", "row"], ["sum_out"], name="add"),
                  node("Relu", ["sum_out"], ["shown"], name="relu")],
                 [value("sum_in", [32]), value("row", [32])],
                 [value("sum_out", [32]), value("shown", [32])], name="body")
    nodes = [node("Scan", ["zero", "x"], ["total", "sums"], name="scan", body=body,
                  num_scan_inputs=1),
             node("Sigmoid", ["sums"], ["y"], name="sigmoid")]
    return model(graph(nodes, [value("x", [20, 32])], [value("total", [32]), value("y", [20, 32])],
                       [weight("zero", (32,))]))


def external_data():
    """The weights are in another file, which is not there."""
    out = classifier(1)
    for tensor in out.graph.initializer:
        size = len(tensor.raw_data)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, text in (("location", "weights.bin"), ("offset", "0"), ("length", str(size))):
            tensor.external_data.add(key=key, value=text)
    return out


def foreign(shaped):
    """A custom operator between two known ones."""
    nodes = [node("Conv", ["x", "w"], ["features"], name="conv", kernel_shape=[3, 3]),
             node("DeformableSampling", ["features"], ["sampled"], name="sample",
                  domain="com.example"),
             node("Relu", ["sampled"], ["y"], name="relu")]
    values = [value("sampled", [1, 4, 20, 20])] if shaped else []
    return model(graph(nodes, [value("x", [1, 3, 16, 16])],
                       [value("y", [1, 4, 20, 20] if shaped else [None] * 4)],
                       [weight("w", (4, 3, 3, 3))], values), domains=["com.example"])


def foreign_shaped():
    return foreign(True)


def foreign_unshaped():
    return foreign(False)


def sequence_optional():
    nodes = [node("SplitToSequence", ["x"], ["parts"], name="split", axis=0),
             node("SequenceAt", ["parts", "first"], ["part"], name="at"),
             node("Optional", ["part"], ["maybe"], name="optional"),
             node("OptionalGetElement", ["maybe"], ["sure"], name="get"),
             node("Relu", ["sure"], ["y"], name="relu"),
             node("ConcatFromSequence", ["parts"], ["whole"], name="concat", axis=0)]
    return model(graph(nodes, [value("x", [6, 16])],
                       [value("y", [1, 16]), value("whole", [None, 16])], [ints("first", 0)]), 18)


def non_zero():
    """How many elements are not zero is known to the run alone."""
    nodes = [node("Relu", ["x"], ["relu"], name="relu"),
             node("NonZero", ["relu"], ["where"], name="nonzero"),
             node("Transpose", ["where"], ["positions"], name="transpose", perm=[1, 0]),
             node("GatherND", ["relu", "positions"], ["found"], name="gather"),
             node("ReduceMax", ["relu"], ["largest"], name="largest", keepdims=0)]
    return model(graph(nodes, [value("x", [16, 16])],
                       [value("found", ["found_count"]), value("largest", [])]))


def names():
    """Names in several scripts; some long, some equal except in the middle."""
    long = "encoder/" + "block/" * 47 + "output"
    around = "stage_of_the_network_{}_result_of_the_activation_function"
    all_names = ["输入_图像", "الطبقة_الأولى", "परत_दो", "🙂🚀_layer", "line\nbreak\ttab\x1b[31mred",
                 long, around.format("left"), around.format("right"), "<script>alert(1)</script>",
                 "", "\u202egnirts desrever", "e\u0301te\u0301"]
    nodes, last = [], "输入_图像"
    for i, name in enumerate(all_names[1:]):
        out = name or "unnamed_node"
        nodes.append(node("Relu" if i % 2 else "Tanh", [last], [out], name=name))
        last = out
    out = "出力"
    nodes.append(node("Add", [around.format("left"), around.format("right")], [out], name=out))
    return model(graph(nodes, [value("输入_图像", ["批量", 32])],
                       [value(out, ["批量", 32]), value(last, ["批量", 32])]))


def only_constants():
    nodes = [node("Constant", [], ["a"], name="a", value=weight("a", (8, 8))),
             node("Constant", [], ["b"], name="b", value=weight("b", (8, 8))),
             node("Add", ["a", "b"], ["y"], name="add")]
    return model(graph(nodes, [], [value("y", [8, 8])]))


def no_operators():
    return model(graph([], [value("x", [4, 4])], [value("x", [4, 4])]))


def narrow_types():
    """float16, bfloat16 and int4."""
    int4 = helper.make_tensor("w4", TensorProto.INT4, [64, 33], bytes(1056), raw=True)
    scale = onnx.numpy_helper.from_array(np.array(0.5, np.float16), "scale16")
    nodes = [node("DequantizeLinear", ["w4", "scale16"], ["w16"], name="dequantise"),
             node("MatMul", ["x", "w16"], ["product"], name="matmul"),
             node("Cast", ["product"], ["brain"], name="to_bfloat16", to=TensorProto.BFLOAT16),
             node("Relu", ["brain"], ["relu"], name="relu"),
             node("Cast", ["relu"], ["single"], name="to_float", to=FLOAT),
             node("QuantizeLinear", ["single", "scale32", "zero4"], ["packed"], name="to_int4"),
             node("DequantizeLinear", ["packed", "scale32", "zero4"], ["y"], name="from_int4")]
    weights = [int4, scale, onnx.numpy_helper.from_array(np.array(0.5, np.float32), "scale32"),
               helper.make_tensor("zero4", TensorProto.INT4, [], bytes(1), raw=True)]
    return model(graph(nodes, [value("x", [7, 64], TensorProto.FLOAT16)], [value("y", [7, 33])],
                       weights), 21, ir=10)


def zero_size():
    """An empty cache is concatenated with what comes in."""
    nodes = [node("Relu", ["cache"], ["old"], name="relu"),
             node("Concat", ["old", "x"], ["joined"], name="concat", axis=1),
             node("Sigmoid", ["joined"], ["y"], name="sigmoid")]
    return model(graph(nodes, [value("cache", [1, 0, 16]), value("x", [1, 5, 16])],
                       [value("y", [1, 5, 16])]))


def skl_classifier():
    """Scaling and logistic regression by skl2onnx: its probabilities are a sequence of maps."""
    from skl2onnx import to_onnx
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    x = np.arange(80, dtype=np.float32).reshape(20, 4)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    pipeline.fit(x, np.arange(20) % 3)
    return to_onnx(pipeline, x[:1], target_opset=15)


def skl_network():
    """A multi-layer perceptron for regression by skl2onnx."""
    from skl2onnx import to_onnx
    from sklearn.neural_network import MLPRegressor
    x = np.arange(80, dtype=np.float32).reshape(20, 4)
    network = MLPRegressor(hidden_layer_sizes=(16, 8), max_iter=5, random_state=0).fit(x, x.sum(axis=1))
    return to_onnx(network, x[:1], target_opset=15)


MODELS = [open_batch, open_unnamed, open_dotted, dims_follow, qdq_int8, if_same, if_differ,
          loop_known, loop_unknown, scan, external_data, foreign_shaped, foreign_unshaped,
          sequence_optional, non_zero, names, only_constants, no_operators, narrow_types, zero_size,
          skl_classifier, skl_network]


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    for make in MODELS:
        try:
            proto = make()
        except ImportError as error:
            print(f"{make.__name__}: skipped, {error}", file=sys.stderr)
            continue
        with open(os.path.join(folder, make.__name__ + ".onnx"), "wb") as file:
            file.write(proto.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
