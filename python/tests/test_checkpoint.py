"""berth.torch.checkpoint_policy(): real training steps under torch.utils.checkpoint, against plain ones."""

import pytest

import berth

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")
if tuple(map(int, torch.__version__.split(".")[:2])) < (2, 9):
    pytest.skip("tests of checkpoint_policy() need PyTorch 2.9", allow_module_level=True)

import berth.torch  # noqa: E402
from test_training import EFFORT, allocated, equal  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

nn, F = torch.nn, torch.nn.functional


class Net(nn.Module):
    """Blocks, each of them a region if `contexts` is given."""

    def __init__(self, blocks, head):
        super().__init__()
        self.blocks, self.head, self.contexts = nn.ModuleList(blocks), head, None

    def forward(self, x):
        for i, block in enumerate(self.blocks):
            x = block(x) if self.contexts is None else checkpoint(
                block, x, use_reentrant=False, context_fn=self.contexts(i))  # fmt: skip
        return self.head(x)


class Mean(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 5)

    def forward(self, x):
        return self.linear(x.mean((2, 3)))


def convnet():
    """Running statistics, an activation in place, and dropout, which draws, and divides in place."""
    widths = [3, 16, 16, 16, 16]
    return Net([nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(inplace=True),
                              nn.Conv2d(b, b, 3, padding=1), nn.GELU(), nn.Dropout(0.2))
                for a, b in zip(widths, widths[1:])], Mean())  # fmt: skip


def transformer():
    layers = [nn.TransformerEncoderLayer(32, 4, 64, dropout=0.1, batch_first=True) for _ in range(3)]
    return Net(layers, nn.Sequential(nn.Flatten(0, 1), nn.Linear(32, 50)))


CASES = {
    "convnet": (convnet, lambda: (torch.randn(16, 3, 32, 32), torch.randint(5, (16,)))),
    "transformer": (transformer, lambda: (torch.randn(8, 32, 32), torch.randint(50, (256,)))),
}


class Case:
    def __init__(self, name):
        torch.manual_seed(0)
        self.kind, inputs = CASES[name]
        self.x, self.y = inputs()

    def model(self):
        torch.manual_seed(1)
        return self.kind().train()

    def policy(self, budget=None):
        model = self.model()
        return berth.torch.checkpoint_policy(
            model, model.blocks, (self.x,), F.cross_entropy, (self.y,), budget=budget, **EFFORT)  # fmt: skip

    def trained(self, contexts):
        """Loss, gradients and buffers of two steps, and what a third one allocates at most."""
        model, found = self.model(), []
        model.contexts = contexts

        def step():
            torch.manual_seed(2)
            model.zero_grad(set_to_none=True)
            value = F.cross_entropy(model(self.x), self.y)
            value.backward()
            return value

        for _ in range(2):
            found.append(step().detach())
            found.extend(p.grad.clone() for p in model.parameters())
            found.extend(b.clone() for b in model.buffers())
        model.zero_grad(set_to_none=True)
        return found, allocated(step)


@pytest.fixture(params=CASES)
def case(request):
    return Case(request.param)


def test_gradients_are_equal_and_the_peak_falls(case, record_property):
    expected, plain = case.trained(None)
    free = case.policy()
    assert free.plan.recomputed.operators == 0
    found, most = case.trained(free.context_fn)
    equal(expected, found)
    least = free.plan.peak
    # PyTorch also runs again what nothing needs; convolutions have none of that here.
    assert most <= (1.01 if case.kind is convnet else 1.06) * least
    last = most
    for percent in (85, 72):
        policy = case.policy(budget=least * percent // 100)
        assert policy.plan.recomputed.operators > 0 and len(policy) == len(policy.kept)
        found, most = case.trained(policy.context_fn)
        # Gradients, and running statistics, which checkpointing without a policy updates twice.
        equal(expected, found)
        record_property(f"{percent} %", f"planned {policy.plan.peak}, measured {most}, plain {plain}")
        assert most <= last
        last = most
    assert last < 0.9 * plain


def test_everything_kept_follows_the_plan(case):
    policy = case.policy(budget="MH")
    again = {name for name in policy.plan.operators if policy.plan.operators.count(name) > 1}
    assert again
    kept = {name for names in policy.kept for name in names}
    assert not again & kept
    assert again <= {name for names in policy.dropped for name in names}


def test_another_mode_is_refused():
    case = Case("convnet")
    policy = case.policy()
    model = case.model()
    model.eval()
    model.contexts = policy.context_fn
    with pytest.raises(RuntimeError, match="of region 0 is aten.* was planned"):
        F.cross_entropy(model(case.x), case.y).backward()


def test_a_region_runs_once_in_a_step():
    block = nn.Sequential(nn.Linear(8, 8), nn.Tanh())
    model = nn.Sequential(block, block)
    with pytest.raises(berth.Unsupported, match="region 0 runs more than once"):
        berth.torch.checkpoint_policy(
            model, [block], (torch.randn(4, 8),), F.mse_loss, (torch.randn(4, 8),))  # fmt: skip
    with pytest.raises(berth.Unsupported, match="region 0 runs no operator"):
        berth.torch.checkpoint_policy(
            model, [nn.Linear(2, 2)], (torch.randn(4, 8),), F.mse_loss, (torch.randn(4, 8),))  # fmt: skip


class Halved(nn.Module):
    """Reads what a batch normalization made before it is written in place."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(8)

    def forward(self, x):
        y = self.norm(x)
        z = torch.exp(y.detach())
        return y.mul_(0.5) + z


def test_what_cannot_be_kept_is_refused():
    model = nn.Sequential(nn.Linear(8, 8), Halved())
    with pytest.raises(berth.Unsupported, match="native_batch_norm may run only once, but exp"):
        berth.torch.checkpoint_policy(
            model, [model[1]], (torch.randn(4, 8),), F.mse_loss, (torch.randn(4, 8),))  # fmt: skip


def test_no_plan():
    case = Case("convnet")
    with pytest.raises(berth.torch.DoesNotFit, match="alone needs") as caught:
        case.policy(budget=1000)
    assert caught.value.plan.least_memory > 1000
