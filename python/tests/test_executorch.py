"""ExecuTorch's planner: with the package where it is installed, else its interface rebuilt."""

import dataclasses
import sys
import types

import pytest

import berth
import berth.executorch


@dataclasses.dataclass(eq=False)
class Spec:
    """A TensorSpec as far as planners look at it."""

    nbytes: int
    lifetime: list
    mem_id: object = None
    storage_base: object = None
    storage_base_offset: int = 0
    alignment: int = 1

    def realign(self, alignment):
        self.alignment = alignment
        return self.allocated_memory

    @property
    def allocated_memory(self):
        return -(-self.nbytes // self.alignment) * self.alignment


@dataclasses.dataclass
class SpecAllocResult:
    mem_id: int
    mem_obj_id: object
    mem_offset: int


@dataclasses.dataclass
class MemoryAlgoResult:
    spec_dict: dict
    bufsizes: list


@pytest.fixture(autouse=True)
def interface(monkeypatch):
    try:
        import executorch.exir.memory_planning  # noqa: F401
    except Exception:  # Not installed, or without torch.
        found = types.ModuleType("executorch.exir.memory_planning")
        found.SpecAllocResult, found.MemoryAlgoResult = SpecAllocResult, MemoryAlgoResult
        for name in ("executorch", "executorch.exir"):
            monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
        monkeypatch.setitem(sys.modules, "executorch.exir.memory_planning", found)


def run(specs, alignment=16, reserved=None, padding=0, **limits):
    planner = berth.executorch.planner(**limits)
    module = types.SimpleNamespace()
    if reserved is not None:
        module.input_mem_buffer_sizes = reserved
    return planner(alignment, specs, module, None, padding), planner


def test_a_plan_within_each_memory():
    # Inclusive lifetimes: `c` begins where `a` was last used, so they may not share.
    a, b, c = Spec(100, [0, 2]), Spec(30, [1, 4]), Spec(100, [3, 4])
    other, empty = Spec(64, [0, 9], mem_id=3), Spec(0, [1, 2])
    result, planner = run([a, b, c, other, empty])
    assert result.bufsizes == [0, 112 + 32, 0, 64]
    assert {result.spec_dict[s].mem_id for s in (a, b, c, empty)} == {1}
    assert result.spec_dict[other].mem_id == 3
    assert result.spec_dict[a].mem_offset == result.spec_dict[c].mem_offset
    assert all(each.mem_obj_id is None for each in result.spec_dict.values())
    assert [pool.mem_id for pool in planner.pools] == [1, 3]
    assert planner.pools[0].placement.outcome == berth.Outcome.OPTIMAL
    c.lifetime = [2, 4]
    assert run([a, b, c])[0].bufsizes == [0, 112 + 32 + 112]


def test_reserved_bytes_and_padding():
    a = Spec(100, [0, 2])
    result, planner = run([a], reserved=[0, 40, 7], padding=64)
    assert result.spec_dict[a].mem_offset == 48
    assert result.bufsizes == [0, 48 + 112 + 64]
    assert planner.pools[0].reserved == 48
    assert run([])[0].bufsizes == [0, 0]


def test_storages():
    base = Spec(128, [0, 3])
    slice_of = Spec(32, [2, 8], storage_base=base, storage_base_offset=64)
    inner = Spec(16, [4, 9], storage_base=slice_of, storage_base_offset=16)
    fresh = Spec(80, [5, 9])
    result, _ = run([inner, fresh, slice_of, base])
    offset = {spec: each.mem_offset for spec, each in result.spec_dict.items()}
    assert offset[slice_of] == offset[base] + 64
    assert offset[inner] == offset[base] + 80
    # From step 4 on only 32 bytes of the storage are needed.
    assert result.bufsizes == [0, 96 + 80] or result.bufsizes == [0, 144]
    assert result.bufsizes[1] <= 176


def test_bad_specs_are_named():
    outside = Spec(16, [0, 1])
    with pytest.raises(ValueError, match="spec 0 is in a storage that is not planned"):
        run([Spec(16, [0, 1], storage_base=outside)])
    with pytest.raises(ValueError, match="spec 1 has no lifetime"):
        run([Spec(16, [0, 1]), Spec(16, [None, None])])
    with pytest.raises(ValueError, match="spec 0 is in memory 0, which is for constants"):
        run([Spec(16, [0, 1], mem_id=0)])
    one, two = Spec(16, [0, 1]), Spec(16, [0, 1])
    one.storage_base, two.storage_base = two, one
    with pytest.raises(ValueError, match="form a circle"):
        run([one, two])


def test_the_check_finds_what_overlaps():
    a, b = Spec(16, [0, 2]), Spec(16, [2, 3])
    names = {a: "a", b: "b"}
    berth.executorch._check([a, b], [0, 16], names)
    with pytest.raises(berth.InternalError, match="b and a share bytes"):
        berth.executorch._check([a, b], [0, 8], names)
    a.alignment = 16
    with pytest.raises(berth.InternalError, match="misaligned"):
        berth.executorch._check([a, b], [8, 24], names)


def test_random_storages_against_all_pairs():
    import random

    for seed in range(200):
        draw = random.Random(seed)
        specs = []
        for _ in range(draw.randint(1, 12)):
            first = draw.randint(0, 10)
            spec = Spec(draw.randint(0, 100), [first, first + draw.randint(0, 6)],
                        mem_id=draw.choice([None, None, 2]))  # fmt: skip
            if specs and draw.random() < 0.4:
                spec.storage_base = draw.choice(specs)
                spec.storage_base_offset = 16 * draw.randint(0, 2)
                spec.mem_id = None
            specs.append(spec)
        draw.shuffle(specs)
        result, _ = run(specs)
        for one in specs:
            place = result.spec_dict[one]
            assert place.mem_offset % 16 == 0
            assert place.mem_offset + one.allocated_memory <= result.bufsizes[place.mem_id]
            base = one.storage_base
            if base is not None and one.nbytes and base.nbytes:
                there = result.spec_dict[base]
                assert place.mem_id == there.mem_id, seed
                assert place.mem_offset == there.mem_offset + one.storage_base_offset, seed
            for two in specs:
                other = result.spec_dict[two]
                roots = [berth.executorch._storage(spec)[0] for spec in (one, two)]
                if roots[0] is roots[1] or place.mem_id != other.mem_id:
                    continue
                apart_in_time = one.lifetime[1] < two.lifetime[0] or two.lifetime[1] < one.lifetime[0]
                apart = (place.mem_offset + one.allocated_memory <= other.mem_offset
                         or other.mem_offset + two.allocated_memory <= place.mem_offset)  # fmt: skip
                assert apart or apart_in_time, seed
