#!/usr/bin/env python3
"""Makes the small snapshots of this folder with Python's own pickle: tests/snapshot/make_files.py

The steps of `small`, as Berth counts them (device 0, stream 0):

  step          1        2        3          4          5        6          7         8
  event     free_c p  alloc a  alloc b  free_r a  free_c a  alloc c  seg_free   alloc d (stream 7)

p was allocated before the recording, k is a block without any event, and b, c, d, k remain.
"""
import os
import pickle


class Global:
    """Pickled by reference to a function, as a hostile file would be."""

    def __reduce__(self):
        return (os.system, ("true",))


def frame(name, filename, line):
    return {"name": name, "filename": filename, "line": line}


MAIN = frame("main", "/home/user/train.py", 9)
LINEAR = frame("forward", "/usr/lib/python3/dist-packages/torch/nn/modules/linear.py", 125)
EMPTY = frame("at::empty(c10::ArrayRef<long>)", "??", 0)


def user(line):
    return frame("step", "/home/user/train.py", line)


def event(action, addr, size, frames=(), stream=0, **more):
    return {
        "action": action,
        "addr": addr,
        "size": size,
        "stream": stream,
        "time_us": 1783874495854988,
        "compile_context": "N/A",
        "user_metadata": "",
        "frames": list(frames),
        **more,
    }


def block(address, size, requested, state, frames=()):
    return {
        "address": address,
        "size": size,
        "requested_size": requested,
        "state": state,
        "frames": list(frames),
    }


def segment(address, blocks, stream=0, pool=(0, 0), device=0):
    size = sum(b["size"] for b in blocks)
    return {
        "device": device,
        "address": address,
        "total_size": size,
        "allocated_size": 0,
        "active_size": 0,
        "requested_size": 0,
        "stream": stream,
        "segment_type": "large",
        "segment_pool_id": pool,
        "is_expandable": False,
        "frames": [],
        "blocks": blocks,
    }


BASE = 0x7F0000000000
P, A, B, C, K, D = BASE, BASE + 4096, BASE + 8192, BASE + 4096, BASE + 65536, BASE + 131072


def small():
    stack = [EMPTY, LINEAR, user(5), MAIN]
    trace = [
        event("free_completed", P, 1000),
        event("alloc", A, 4096, stack),
        event("alloc", B, 2000, [EMPTY, user(6), MAIN]),
        event("free_requested", A, 4096),
        event("free_completed", A, 4096),
        event("alloc", C, 100, [EMPTY, user(5), MAIN]),
        event("segment_free", BASE + (1 << 20), 2097152),
        event("alloc", D, 512, [EMPTY], stream=7),
    ]
    segments = [
        segment(
            BASE,
            [
                block(P, 4096, 1000, "inactive"),
                block(C, 512, 100, "active_allocated", stack),
                block(C + 512, 3584, 0, "inactive"),
                block(B, 2048, 2000, "active_allocated"),
                block(B + 2048, 6144, 0, "inactive"),
            ],
        ),
        segment(K, [block(K, 1024, 1000, "active_pending_free")]),
        segment(D, [block(D, 512, 512, "active_allocated")], stream=7),
    ]
    return {
        "segments": segments,
        "device_traces": [trace, []],
        "allocator_settings": {"max_split_size": -1, "garbage_collection_threshold": 0.5},
        "external_annotations": [{"stage": "START", "name": "x", "device": 0, "time_us": 5}],
    }


def pools():
    """Two devices; a private pool that only the segments name; the ring has lost events."""
    first = [event("alloc", BASE + 512, 300, [user(1)]), event("alloc", K, 700, [user(2)])]
    second = [event("alloc", BASE, 1024, [user(3)]), event("oom", 0, 1 << 40)]
    del second[1]["addr"]
    second[1]["device_free"] = 12345
    segments = [
        segment(
            BASE,
            [
                block(BASE, 512, 512, "active_allocated", [user(8)]),
                block(BASE + 512, 512, 300, "active_allocated"),
            ],
        ),
        segment(K, [block(K, 1024, 700, "active_allocated")], pool=(0, 3)),
        segment(BASE, [block(BASE, 1024, 1024, "active_allocated")], device=1),
    ]
    return {"segments": segments, "device_traces": [first, second], "allocator_settings": {}}


def main():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "files")
    for protocol in (2, 3, 4, 5):
        with open(os.path.join(folder, f"small_{protocol}.pickle"), "wb") as out:
            pickle.dump(small(), out, protocol=protocol)
    files = {
        "pools": pools(),
        "empty": {"segments": [], "device_traces": [[]]},
        "bad_reduce": {"segments": [], "device_traces": [[Global()]]},
        "bad_size": {"segments": [], "device_traces": [[event("alloc", 4096, -7)]]},
        "bad_no_addr": {"segments": [], "device_traces": [[{"action": "alloc", "size": 3}]]},
        "bad_action": {"segments": [], "device_traces": [[{"action": 5}]]},
        "bad_frames": {"segments": [], "device_traces": [[event("alloc", 1, 2, ["x"])]]},
        "bad_trace": {"segments": [], "device_traces": [[17]]},
        "bad_traces": {"segments": [], "device_traces": {"a": 1}},
        "bad_huge": {"segments": [], "device_traces": [[event("alloc", 1 << 70, 2)]]},
        "bad_keys": {"segments_": [], "other": 1},
    }
    for name, value in files.items():
        with open(os.path.join(folder, name + ".pickle"), "wb") as out:
            pickle.dump(value, out, protocol=4)
    with open(os.path.join(folder, "bad_reduce_2.pickle"), "wb") as out:
        pickle.dump(files["bad_reduce"], out, protocol=2)


if __name__ == "__main__":
    main()
