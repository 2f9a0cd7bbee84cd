#include "tools/verify/execute.h"

#include <algorithm>
#include <optional>
#include <set>

namespace berth::verify {
namespace {

// Contents of a base's bytes: the tensor, and the operator that wrote it last.
struct Content {
  TensorIndex tensor;
  OperatorIndex writer;
  friend bool operator==(const Content&, const Content&) = default;
};

// The bytes of an arena, cut wherever a tensor begins or ends. Each piece records its last write,
// so a reader of wrong bytes can name the writer.
class Arena {
 public:
  struct Piece {
    Bytes lower;  // Position in the plan.
    Bytes upper;
    std::size_t begin;  // Position in memory.
    std::size_t size;
    std::optional<Content> content;
  };

  Arena(const Graph& graph, const std::vector<PlacedTensor>& placed, Bytes max_arena)
      : places_(graph.tensors.size()) {
    std::set<Bytes> cuts;
    for (const PlacedTensor& p : placed) {
      const Bytes bytes = graph.tensors[p.tensor].bytes;
      if (bytes == 0) continue;
      cuts.insert(p.offset);
      cuts.insert(p.offset + bytes);
    }
    if (!cuts.empty()) bytes_ = *cuts.rbegin();
    // Scaled down by a whole factor, rounded up: at least one byte of each piece is left.
    const Bytes factor =
        std::max<Bytes>(1, (bytes_ + max_arena - 1) / std::max<Bytes>(1, max_arena));
    std::size_t memory = 0;
    std::optional<Bytes> last;
    for (const Bytes cut : cuts) {
      if (last) {
        const auto size = static_cast<std::size_t>((cut - *last + factor - 1) / factor);
        pieces_.push_back({*last, cut, memory, size, std::nullopt});
        memory += size;
      }
      last = cut;
    }
    memory_.assign(memory, 0);
    for (const PlacedTensor& p : placed) {
      const Bytes bytes = graph.tensors[p.tensor].bytes;
      if (bytes == 0) continue;
      const auto piece_at = [&](Bytes lower) {
        return static_cast<std::size_t>(
            std::lower_bound(pieces_.begin(), pieces_.end(), lower,
                             [](const Piece& piece, Bytes at) { return piece.lower < at; }) -
            pieces_.begin());
      };
      places_[p.tensor] = {true, p.offset, piece_at(p.offset), piece_at(p.offset + bytes)};
    }
  }

  [[nodiscard]] bool Holds(TensorIndex base) const { return places_[base].in_arena; }
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] std::size_t memory() const { return memory_.size(); }

  // Fills the bytes of `content.tensor`. Returns their number in memory.
  std::size_t Write(const Content& content) {
    const Place& place = places_[content.tensor];
    std::size_t written = 0;
    for (std::size_t i = place.first; i < place.end; ++i) {
      Piece& piece = pieces_[i];
      piece.content = content;
      const std::uint32_t seed = Seed(content);
      for (std::size_t b = 0; b < piece.size; ++b) {
        memory_[piece.begin + b] = PatternAt(seed, piece.begin + b);
      }
      written += piece.size;
    }
    return written;
  }

  // Calls wrong(lower, upper, instead) for each piece of the tensor that differs from what
  // Write(content) wrote, with bytes counted from the tensor's first. Returns the number of bytes
  // read.
  template <typename Wrong>
  std::size_t Read(const Content& content, Wrong wrong) const {
    const Place& place = places_[content.tensor];
    const std::uint32_t seed = Seed(content);
    std::size_t read = 0;
    for (std::size_t i = place.first; i < place.end; ++i) {
      const Piece& piece = pieces_[i];
      std::uint32_t difference = 0;
      for (std::size_t b = 0; b < piece.size; ++b) {
        difference |=
            static_cast<std::uint32_t>(memory_[piece.begin + b] ^ PatternAt(seed, piece.begin + b));
      }
      read += piece.size;
      if (difference != 0 || piece.content != content) {
        wrong(piece.lower - place.offset, piece.upper - place.offset, piece.content);
      }
    }
    return read;
  }

 private:
  struct Place {
    bool in_arena = false;
    Bytes offset = 0;
    std::size_t first = 0;  // Index into pieces_.
    std::size_t end = 0;
  };

  static std::uint32_t Seed(const Content& content) {
    std::uint64_t x = content.tensor * 0x9e3779b97f4a7c15u + content.writer + 1;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return static_cast<std::uint32_t>(x >> 32);
  }
  static std::uint8_t PatternAt(std::uint32_t seed, std::size_t address) {
    return static_cast<std::uint8_t>((seed ^ (static_cast<std::uint32_t>(address) * 0x9e3779b1u)) >>
                                     24);
  }

  std::vector<Place> places_;
  std::vector<Piece> pieces_;
  std::vector<std::uint8_t> memory_;
  Bytes bytes_ = 0;
};

class Run {
 public:
  Run(const Graph& graph, const Order& order, const std::vector<PlacedTensor>& placed,
      const ExecutionOptions& options)
      : graph_(graph),
        order_(order),
        options_(options),
        none_(graph.operators.size()),
        arena_(graph, placed, options.max_arena),
        outside_(graph.tensors.size(), none_) {
    report_.arena = arena_.bytes();
    report_.arena_used = static_cast<Bytes>(arena_.memory());
  }

  ExecutionReport Go() {
    FindIntended();
    for (TensorIndex t = 0; t < graph_.tensors.size(); ++t) {
      const Tensor& tensor = graph_.tensors[t];
      const bool is_there =
          tensor.kind != TensorKind::kActivation && tensor.kind != TensorKind::kGradient;
      if (!tensor.alias_of && is_there) Write({t, none_});
    }
    for (const OperatorIndex v : order_) {
      const std::vector<Content>& reads = reads_[v];
      for (const Content& content : reads) Read(v, content);
      // Its in-place writes change bytes; everything else that it reads must survive.
      for (const TensorIndex base : writes_[v]) Write({base, v});
      for (const Content& content : reads) {
        const auto& written = graph_.operators[v].mutates;
        if (std::find(written.begin(), written.end(), content.tensor) == written.end()) {
          Read(v, content);
        }
      }
      for (const TensorIndex base : writes_[v]) Read(v, {base, v});
      ++report_.operators_run;
    }
    std::set<TensorIndex> results;
    for (TensorIndex t = 0; t < graph_.tensors.size(); ++t) {
      const Tensor& tensor = graph_.tensors[t];
      if (tensor.output) results.insert(tensor.alias_of.value_or(t));
      // The next run needs the tensors that persist across runs.
      const bool for_all_runs =
          tensor.kind == TensorKind::kParameter || tensor.kind == TensorKind::kConstant;
      if (for_all_runs && arena_.Holds(t)) results.insert(t);
    }
    for (const TensorIndex base : results) Read(none_, {base, last_writer_[base]});
    return std::move(report_);
  }

 private:
  // The contents that each operator reads, and writes, in program order.
  void FindIntended() {
    reads_.resize(graph_.operators.size());
    writes_.resize(graph_.operators.size());
    last_writer_.assign(graph_.tensors.size(), none_);
    for (OperatorIndex v = 0; v < graph_.operators.size(); ++v) {
      const Operator& op = graph_.operators[v];
      std::set<TensorIndex> finds;
      std::set<TensorIndex> writes(op.mutates.begin(), op.mutates.end());
      for (const TensorIndex t : op.inputs) finds.insert(graph_.tensors[t].alias_of.value_or(t));
      // An in-place write may leave bytes unchanged, so it needs them.
      finds.insert(op.mutates.begin(), op.mutates.end());
      for (const TensorIndex t : op.outputs) {
        if (!graph_.tensors[t].alias_of) writes.insert(t);
      }
      for (const TensorIndex base : finds) reads_[v].push_back({base, last_writer_[base]});
      for (const TensorIndex base : writes) last_writer_[base] = v;
      writes_[v].assign(writes.begin(), writes.end());
    }
  }

  void Write(const Content& content) {
    if (!arena_.Holds(content.tensor)) {
      outside_[content.tensor] = content.writer;
      return;
    }
    report_.bytes_written += static_cast<Bytes>(arena_.Write(content));
  }

  void Read(OperatorIndex reader, const Content& content) {
    const auto wrong = [&](Bytes lower, Bytes upper, const std::optional<Content>& instead) {
      Clobber clobber{reader,
                      content.tensor,
                      lower,
                      upper,
                      content.writer,
                      instead ? instead->writer : none_,
                      instead ? instead->tensor : graph_.tensors.size()};
      if (!report_.clobbers.empty() && report_.more == 0) {
        Clobber& last = report_.clobbers.back();
        // The same error found again, as when an operator checks once more after its writes.
        if (last.reader == reader && last.tensor == content.tensor && lower < last.upper &&
            last.writer == clobber.writer && last.by == clobber.by) {
          return;
        }
        if (last.reader == reader && last.tensor == content.tensor && last.upper == lower &&
            last.writer == clobber.writer && last.by == clobber.by) {
          last.upper = upper;
          return;
        }
      }
      if (report_.clobbers.size() < options_.max_clobbers) {
        report_.clobbers.push_back(clobber);
      } else {
        ++report_.more;
      }
    };
    if (arena_.Holds(content.tensor)) {
      report_.bytes_read += static_cast<Bytes>(arena_.Read(content, wrong));
    } else if (outside_[content.tensor] != content.writer) {
      wrong(0, graph_.tensors[content.tensor].bytes,
            Content{content.tensor, outside_[content.tensor]});
    }
  }

  const Graph& graph_;
  const Order& order_;
  const ExecutionOptions options_;
  const OperatorIndex none_;
  Arena arena_;
  std::vector<OperatorIndex> outside_;  // Last writer of each base that is not in the arena.
  std::vector<std::vector<Content>> reads_;
  std::vector<std::vector<TensorIndex>> writes_;
  std::vector<OperatorIndex> last_writer_;
  ExecutionReport report_;
};

}  // namespace

ExecutionReport Execute(const Graph& graph, const Order& order,
                        const std::vector<PlacedTensor>& placed, const ExecutionOptions& options) {
  return Run(graph, order, placed, options).Go();
}

std::string Describe(const Clobber& clobber, const Graph& graph) {
  const auto tensor = [&](TensorIndex t) { return "tensor \"" + graph.tensors[t].name + "\""; };
  const auto op = [&](OperatorIndex v) { return "operator \"" + graph.operators[v].name + "\""; };
  const std::size_t none = graph.operators.size();
  std::string text = "clobbered: ";
  text += clobber.reader == none ? "the end of the run" : op(clobber.reader);
  text += " finds bytes [" + std::to_string(clobber.lower) + ", " + std::to_string(clobber.upper) +
          ") of " + tensor(clobber.tensor);
  if (clobber.by == graph.tensors.size()) return text + " never written";
  if (clobber.by == clobber.tensor) {
    const auto value = [&](OperatorIndex v) {
      return v == none ? "the initial value" : "the value of " + op(v);
    };
    return text + " with " + value(clobber.writer) + " instead of " +
           value(clobber.expected_writer);
  }
  text += clobber.writer == none ? " overwritten before the run"
                                 : " overwritten by " + op(clobber.writer);
  return text + " with " + tensor(clobber.by);
}

}  // namespace berth::verify
