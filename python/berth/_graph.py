"""Graphs: operators and the tensors between them."""

from __future__ import annotations

import ctypes
import json
import os
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Iterable,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from berth._answer import Path, data_frame
from berth._arrays import position, whole
from berth._library import NONE, Handle, OperatorStruct, TensorStruct, encoded, indices, lib, text
from berth._problem import Problem
from berth._search import OptionsHandle, Size, path_bytes, save, text_of
from berth._errors import check, error_slot

if TYPE_CHECKING:
    from typing_extensions import TypeAlias

REPEAT_PURE, REPEAT_NEVER = 1, 2
KINDS = ("activation", "gradient", "input", "parameter", "constant")

# By index or by name.
TensorRef: TypeAlias = "Union[int, str]"
# A Graph; the path or the bytes of an ONNX or TensorFlow Lite model or of a graph in JSON; a graph in
# JSON as a dict; an onnx.ModelProto; a torch.export.ExportedProgram or a torch.fx.GraphModule.
Model: TypeAlias = "Union[Graph, Path, bytes, Mapping[str, Any], Any]"


class Tensor(NamedTuple):
    """A tensor of a graph.

    bytes: 0 where the size is unknown; `unsized` says why.
    kind: "activation", "gradient", "input", "parameter" or "constant".
    output: a result of the graph.
    alias_of: the tensor whose bytes this one views, or None.
    dtype, shape: for people, such as "float32" and "1x64x56x56".
    """

    name: str
    bytes: int
    kind: str
    output: bool
    alignment: int
    alias_of: Optional[int]
    unsized: str
    dtype: str
    shape: str


class Operator(NamedTuple):
    """An operator of a graph. Tensors and operators are given by their index.

    mutates: tensors that it writes in place.
    after: operators that run earlier although no tensor requires it.
    """

    name: str
    type: str
    inputs: Tuple[int, ...]
    outputs: Tuple[int, ...]
    mutates: Tuple[int, ...]
    after: Tuple[int, ...]


class Graph:
    """Operators in program order, and their tensors (docs/formats/graph.md).

    read() makes one from a file. Graph() is empty: add tensors, then operators. The rules are
    checked when the graph is planned, or by validate(). One thread at a time may change a graph.
    """

    def __init__(self, name: str = "", *, cost_unit: Optional[str] = None) -> None:
        """cost_unit: of the costs of operators, such as "ns"."""
        self._handle = Handle(lib.berth_graph_new(encoded(name)), lib.berth_graph_free)
        self._source: Union[str, bytes, None] = None
        if cost_unit is not None:
            slot = error_slot()
            check(
                lib.berth_graph_set_cost_unit(
                    self._handle.pointer, encoded(cost_unit), ctypes.byref(slot)
                ),
                slot,
            )

    @classmethod
    def _adopt(cls, pointer: Optional[int], source: Union[str, bytes, None]) -> Graph:
        graph = cls.__new__(cls)
        graph._handle = Handle(pointer, lib.berth_graph_free)
        graph._source = source  # The model, for reordered copies.
        return graph

    @classmethod
    def read(
        cls,
        source: Union[Path, bytes],
        *,
        dim: Optional[Mapping[str, int]] = None,
        dim_default: Optional[int] = None,
        element_bytes: Optional[int] = None,
        alignment: Optional[Size] = None,
        fuse: Optional[bool] = None,
        in_place: Optional[bool] = None,
        device: Optional[Path] = None,
        profile: Optional[Path] = None,
        name: str = "model",
    ) -> Graph:
        """An ONNX or TensorFlow Lite model, or a graph in JSON: a path, or the bytes of a file,
        which errors call `name`. See berth.read()."""
        options = OptionsHandle()
        options.set_dimensions(dim)
        options.set_all({"dim_default": dim_default, "element_bytes": element_bytes,
                         "alignment": alignment, "fuse": fuse, "in_place": in_place})  # fmt: skip
        options.set_files(device=device, profile=profile)
        result, slot = ctypes.c_void_p(), error_slot()
        if isinstance(source, bytes):
            status = lib.berth_graph_parse(
                source, len(source), encoded(name), options.pointer,
                ctypes.byref(result), ctypes.byref(slot),
            )  # fmt: skip
        else:
            source = os.fspath(source)
            status = lib.berth_graph_read(
                path_bytes(source), options.pointer, ctypes.byref(result), ctypes.byref(slot)
            )
        check(status, slot)
        return cls._adopt(result.value, source)

    def add_tensor(
        self,
        name: str,
        bytes: int,
        *,
        kind: str = "activation",
        alignment: int = 1,
        alias_of: Optional[TensorRef] = None,
        output: bool = False,
        dtype: str = "",
        shape: Union[str, Iterable[int]] = "",
    ) -> int:
        """Adds a tensor of `bytes` bytes and returns its index.

        name: unique among the tensors.
        kind: "activation" or "gradient" if an operator makes it; "input", "parameter" or
            "constant" if it is given. These are planned only with `count`.
        alignment: of its offset, in bytes.
        alias_of: the tensor whose bytes this one views; it must not be a view itself.
        output: a result of the graph: live to the end.
        """
        if kind not in KINDS:
            raise ValueError(f"kind is {kind!r}; it should be one of {', '.join(KINDS)}")
        base = NONE if alias_of is None else self._tensor(alias_of)
        index, slot = ctypes.c_size_t(), error_slot()
        self._source = None
        check(
            lib.berth_graph_add_tensor(
                self._handle.pointer, encoded(name), KINDS.index(kind), whole(bytes, "bytes"),
                whole(alignment, "alignment"), base,
                int(output), ctypes.byref(index), ctypes.byref(slot),
            ),
            slot,
        )  # fmt: skip
        dims = shape if isinstance(shape, str) else "x".join(str(d) for d in shape)
        if dtype or dims:
            check(
                lib.berth_graph_describe_tensor(
                    self._handle.pointer, index, encoded(dtype), encoded(dims), ctypes.byref(slot)
                ),
                slot,
            )
        self._source = None
        return index.value

    def add_operator(
        self,
        name: str,
        inputs: Sequence[TensorRef],
        outputs: Sequence[TensorRef],
        *,
        type: str = "",
        mutates: Sequence[TensorRef] = (),
        after: Sequence[int] = (),
        may_overwrite: Sequence[Tuple[TensorRef, TensorRef]] = (),
        cost: Optional[int] = None,
        repeat: Optional[bool] = None,
    ) -> int:
        """Adds an operator after those that are there, and returns its index.

        inputs, outputs: the tensors that it reads and makes.
        mutates: tensors, not views, that it writes in place.
        after: operators that run earlier although no tensor requires it.
        may_overwrite: (input, output): it may write `output` over `input`, for `in_place`.
        cost: of running it once, in the graph's `cost_unit`, for plan(recompute=True). Where no
            operator has a cost, it is the bytes that it reads and writes.
        repeat: whether it may run again; None: that follows from its type.
        """
        read, reads = indices([self._tensor(t) for t in inputs])
        made, makes = indices([self._tensor(t) for t in outputs])
        written = [self._tensor(t) for t in mutates]
        over = [(self._tensor(a), self._tensor(b)) for a, b in may_overwrite]
        earlier = [position(op, "after") for op in after]
        count = lib.berth_graph_operator_count(self._handle.pointer)
        for op in earlier:
            if op >= count:
                raise ValueError(f"after: operator {op} is out of range: there are {count}")
        self._source = None
        index, slot = ctypes.c_size_t(), error_slot()
        check(
            lib.berth_graph_add_operator(
                self._handle.pointer, encoded(name), encoded(type), read, reads, made, makes,
                ctypes.byref(index), ctypes.byref(slot),
            ),
            slot,
        )  # fmt: skip
        at = (self._handle.pointer, index.value)
        for tensor in written:
            check(lib.berth_graph_add_mutation(*at, tensor, ctypes.byref(slot)), slot)
        for op in earlier:
            check(lib.berth_graph_add_dependency(*at, op, ctypes.byref(slot)), slot)
        for source, target in over:
            check(lib.berth_graph_add_overwrite(*at, source, target, ctypes.byref(slot)), slot)
        if cost is not None:
            check(lib.berth_graph_set_cost(*at, whole(cost, "cost"), ctypes.byref(slot)), slot)
        if repeat is not None:
            how = REPEAT_PURE if repeat else REPEAT_NEVER
            check(lib.berth_graph_set_repeat(*at, how, ctypes.byref(slot)), slot)
        return index.value

    def _tensor(self, tensor: TensorRef) -> int:
        if not isinstance(tensor, str):
            return position(tensor, "tensor")
        names = self._names()
        if tensor not in names:
            raise ValueError(f"there is no tensor {tensor!r} in the graph")
        return names[tensor]

    def _names(self) -> Dict[str, int]:
        """The indices of the tensors by name. Kept, as building a graph asks for it each time."""
        names: Dict[str, int] = self.__dict__.setdefault("_known", {})
        for i in range(len(names), self.tensor_count):
            names[self.tensor(i).name] = i
        return names

    @property
    def name(self) -> str:
        return text(lib.berth_graph_name(self._handle.pointer))

    @property
    def tensor_count(self) -> int:
        return int(lib.berth_graph_tensor_count(self._handle.pointer))

    @property
    def operator_count(self) -> int:
        return int(lib.berth_graph_operator_count(self._handle.pointer))

    def tensor(self, index: int) -> Tensor:
        """The tensor with this index."""
        found, slot = TensorStruct(), error_slot()
        check(
            lib.berth_graph_tensor(
                self._handle.pointer, index, ctypes.byref(found), ctypes.byref(slot)
            ),
            slot,
        )
        return Tensor(
            text(found.name),
            found.bytes,
            KINDS[found.kind],
            bool(found.is_output),
            found.alignment,
            None if found.alias_of == NONE else found.alias_of,
            text(found.unsized),
            text(found.dtype),
            text(found.shape),
        )

    def operator(self, index: int) -> Operator:
        """The operator with this index."""
        found, slot = OperatorStruct(), error_slot()
        check(
            lib.berth_graph_operator(
                self._handle.pointer, index, ctypes.byref(found), ctypes.byref(slot)
            ),
            slot,
        )
        return Operator(
            text(found.name),
            text(found.type),
            _listed(found.inputs, found.input_count),
            _listed(found.outputs, found.output_count),
            _listed(found.mutates, found.mutate_count),
            _listed(found.after, found.after_count),
        )

    @property
    def tensors(self) -> List[Tensor]:
        """All tensors, in order."""
        return [self.tensor(i) for i in range(self.tensor_count)]

    @property
    def operators(self) -> List[Operator]:
        """All operators, in program order."""
        return [self.operator(i) for i in range(self.operator_count)]

    @property
    def notes(self) -> List[str]:
        """What a reader of plans has to know about how the model was read, a sentence each."""
        count = lib.berth_graph_note_count(self._handle.pointer)
        return [text(lib.berth_graph_note(self._handle.pointer, i)) for i in range(count)]

    @property
    def open_dimensions(self) -> List[str]:
        """Dimensions of inputs that an ONNX model leaves open and that `dim` did not give.
        Tensors whose sizes depend on them are unsized: no plan is proved then."""
        count = lib.berth_graph_open_dimension_count(self._handle.pointer)
        return [text(lib.berth_graph_open_dimension(self._handle.pointer, i)) for i in range(count)]

    def validate(self) -> None:
        """Raises InvalidGraph, with the first operator or tensor that breaks a rule."""
        slot = error_slot()
        check(lib.berth_graph_validate(self._handle.pointer, ctypes.byref(slot)), slot)

    def changed(
        self,
        *,
        alignment: Optional[Size] = None,
        fuse: Optional[bool] = None,
        in_place: Optional[bool] = None,
        device: Optional[Path] = None,
        profile: Optional[Path] = None,
    ) -> Graph:
        """A copy with these options applied, as read() explains them. Raises InvalidGraph, and
        InvalidProblem for `device` and `profile` if the graph has costs already, and for `profile`
        alone if it lacks an operator."""
        options = OptionsHandle()
        options.set_all({"alignment": alignment, "fuse": fuse, "in_place": in_place})
        options.set_files(device=device, profile=profile)
        result, slot = ctypes.c_void_p(), error_slot()
        check(
            lib.berth_graph_apply(
                self._handle.pointer, options.pointer, ctypes.byref(result), ctypes.byref(slot)
            ),
            slot,
        )
        return Graph._adopt(result.value, self._source)

    def to_json(self) -> str:
        """The graph as a file (docs/formats/graph.md)."""
        return self._json().decode("utf-8")

    def _json(self) -> bytes:
        return text_of(lib.berth_graph_to_json, self._handle.pointer)

    def save(self, path: Path) -> None:
        """Writes the graph as .json."""
        save(path, {".json": self._json})

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each tensor."""
        tensors = self.tensors
        return data_frame({n: [getattr(t, n) for t in tensors] for n in Tensor._fields})

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        unsized = f", open: {', '.join(self.open_dimensions)}" if self.open_dimensions else ""
        return (
            f"<Graph{name}: {self.operator_count:,} operators, "
            f"{self.tensor_count:,} tensors{unsized}>"
        )


def _listed(array: Any, count: int) -> Tuple[int, ...]:
    return tuple(array[:count]) if count else ()


def _package(model: Any) -> str:
    """Where the class of an object, or one that it inherits from, comes from."""
    for kind in type(model).__mro__:
        package = kind.__module__.partition(".")[0]
        if package in ("onnx", "torch"):
            return package
    return ""


def as_graph(
    model: Model,
    *,
    dim: Optional[Mapping[str, int]] = None,
    dim_default: Optional[int] = None,
    element_bytes: Optional[int] = None,
    alignment: Optional[Size] = None,
    fuse: Optional[bool] = None,
    in_place: Optional[bool] = None,
    device: Optional[Path] = None,
    profile: Optional[Path] = None,
) -> Graph:
    """Any model as a graph, read with these options."""
    if isinstance(model, Graph):
        if dim or dim_default is not None or element_bytes is not None:
            raise TypeError("dim, dim_default and element_bytes are for models that are read: "
                            "give them to berth.read()")  # fmt: skip
        if alignment is None and not fuse and not in_place and device is None and profile is None:
            return model
        return model.changed(alignment=alignment, fuse=fuse, in_place=in_place, device=device,
                             profile=profile)  # fmt: skip
    source: Union[Path, bytes]
    name = "model"
    if isinstance(model, (str, bytes, os.PathLike)):
        source = model
    elif isinstance(model, Mapping):
        source = json.dumps(model, separators=(",", ":")).encode("utf-8")
        name = str(model.get("name") or name)
    elif hasattr(model, "SerializeToString"):
        source = model.SerializeToString()
        name = getattr(getattr(model, "graph", None), "name", "") or name
    elif _package(model) == "torch":
        from berth import torch as tracer

        return as_graph(tracer.graph_of(model), alignment=alignment, fuse=fuse, in_place=in_place,
                        device=device, profile=profile)  # fmt: skip
    else:
        raise TypeError(
            f"{type(model).__name__} is not a model: give a path, bytes, a Graph, an "
            "onnx.ModelProto, a torch.export.ExportedProgram or a torch.fx.GraphModule"
        )
    return Graph.read(source, dim=dim, dim_default=dim_default, element_bytes=element_bytes,
                      alignment=alignment, fuse=fuse, in_place=in_place, device=device,
                      profile=profile, name=name)  # fmt: skip


def _is_table(source: Union[Path, bytes]) -> bool:
    """A table in CSV is text that does not begin as JSON does; a model in ONNX begins with a
    control character, and one of TensorFlow Lite has some near its beginning. Programs of ExecuTorch
    are tables of the memories that they plan."""
    if isinstance(source, bytes):
        first = source[:64]
    else:
        ending = os.path.splitext(os.fspath(source))[1].lower()
        if ending in (".csv", ".onnx"):
            return ending == ".csv"
        try:
            with open(source, "rb") as file:
                first = file.read(64)
        except OSError:
            return False  # The library says what is wrong.
    if first[4:8] == b"ET12":
        return True
    first = first.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")
    return bool(first) and first[:1] != b"{" and first[0] >= 32 and b"\0" not in first


def read(
    source: Union[Path, bytes],
    *,
    dim: Optional[Mapping[str, int]] = None,
    dim_default: Optional[int] = None,
    element_bytes: Optional[int] = None,
    alignment: Optional[Size] = None,
    fuse: Optional[bool] = None,
    in_place: Optional[bool] = None,
    device: Optional[Path] = None,
    profile: Optional[Path] = None,
    endpoints: Optional[str] = None,
    problem: Optional[str] = None,
) -> Union[Graph, Problem]:
    """Reads a model as a Graph, or a table of buffers as a Problem.

    source: the path or the bytes of an ONNX or TensorFlow Lite model, of a graph in JSON, or of a
        table in CSV, or a plan that another system wrote down (docs/formats/recorded.md). Weights
        are not read.
    dim: sizes that a model leaves open: {"batch": 1}.
    dim_default: the size of all other open dimensions.
    element_bytes: of every element of a model: 1 for one that will run in 8 bits.
    alignment: every offset and size is a multiple of it: bytes, or text such as "64". By default
        16; for a graph in JSON, what it says.
    fuse: compute element-wise operators together with the operator before them.
    in_place: write outputs over inputs where the model allows it and it is safe in every order.
    device: the path of a device in JSON (docs/formats/device.md): operators cost the time that they
        take on it.
    profile: the path of measured times (docs/formats/profile.md); `device` prices what it lacks.
    endpoints: what the lifetime columns of a table mean: "half-open", "inclusive", "exclusive" or
        "by-name".
    problem: the name or the number of one of several problems in a file.

    Raises FileError, ParseError (with the line of a table), InvalidGraph, InvalidProblem.
    """
    if _is_table(source):
        given = {"dim": dim, "dim_default": dim_default, "element_bytes": element_bytes,
                 "alignment": alignment, "fuse": fuse, "in_place": in_place,
                 "device": device, "profile": profile}  # fmt: skip
        for name, value in given.items():
            if value is not None:
                raise TypeError(f"{name} is for models, and this is a table of buffers")
        return Problem.read(source, endpoints=endpoints, problem=problem)
    if endpoints is not None:
        raise TypeError("endpoints is for tables of buffers, and this is a model")
    if problem is not None:
        raise TypeError("problem is for files with several, and this is a model")
    return Graph.read(source, dim=dim, dim_default=dim_default, element_bytes=element_bytes,
                      alignment=alignment, fuse=fuse, in_place=in_place, device=device,
                      profile=profile)  # fmt: skip
