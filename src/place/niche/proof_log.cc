#include "place/niche/proof_log.h"

#include <algorithm>

namespace berth::internal::niche {
namespace {

void Append(std::string& text, std::int64_t number) {
  text += ' ';
  text += std::to_string(number);
}

// " 3-7 9"
void AppendRanges(std::string& text, const std::vector<std::int32_t>& numbers) {
  for (std::size_t k = 0; k < numbers.size();) {
    std::size_t end = k + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    Append(text, numbers[k]);
    if (end > k + 1) text += '-' + std::to_string(numbers[end - 1]);
    k = end;
  }
}

bool Meets(const Word* set, SectionIndex first, SectionIndex last) {
  for (SectionIndex s = first; s < last; ++s) {
    if (TestBit(set, s.position())) return true;
  }
  return false;
}

bool IsWritten(const Reason& reason) {
  return reason.kind == Reason::Kind::kLemma && reason.lemma->name == 0;
}

}  // namespace

// A chain of lemmas may be longer than the stack is deep.
Lemma::~Lemma() {
  if (memory != nullptr) *memory -= bytes;
  std::vector<LemmaPointer> last;
  const auto take = [&last](std::vector<ProofStep>& from) {
    for (ProofStep& step : from) {
      if (step.reason.lemma != nullptr && step.reason.lemma.use_count() == 1) {
        last.push_back(std::move(step.reason.lemma));
      }
    }
  };
  take(steps);
  while (!last.empty()) {
    const LemmaPointer lemma = std::move(last.back());
    last.pop_back();
    take(lemma->steps);
  }
}

void ProofLog::SetLanes(std::vector<Lane> lanes, std::size_t num_sections) {
  lanes_ = std::move(lanes);
  section_words_ = WordsFor(num_sections);
}

std::vector<std::int32_t> ProofLog::SectionsOf(const Lemma& lemma) const {
  std::vector<std::int32_t> sections;
  ForEachBit(lemma.words.data(), section_words_,
             [&](std::size_t bit) { sections.push_back(static_cast<std::int32_t>(bit)); });
  return sections;
}

LemmaPointer ProofLog::Add(std::shared_ptr<Lemma> lemma, std::span<ProofStep> steps) {
  lemma->serial = ++last_serial_;
  lemma->steps.assign(std::make_move_iterator(steps.begin()), std::make_move_iterator(steps.end()));
  constexpr std::size_t kOwners = 128;  // Of the parts, and the counter that owns the lemma.
  lemma->bytes = sizeof(Lemma) + kOwners + lemma->words.size() * sizeof(Word) +
                 lemma->steps.size() * sizeof(ProofStep);
  lemma->memory = &bytes_;
  bytes_ += lemma->bytes;
  return lemma;
}

// The lemmas that are written by themselves, and referred to by number: those that are used in more
// than one place, or in another state than their own. In the order of their conclusions.
std::vector<const Lemma*> ProofLog::FindNamed() const {
  std::vector<const Lemma*> all;
  const auto use = [&all](const Reason& reason) {
    if (reason.kind != Reason::Kind::kLemma) return;
    const Lemma& lemma = *reason.lemma;
    if (reason.origin == Reason::Origin::kRemembered) lemma.is_remembered = true;
    if (++lemma.uses == 1) all.push_back(&lemma);
  };
  use(root_);
  std::size_t done = 0;
  while (done < all.size()) {
    for (const ProofStep& step : all[done++]->steps) use(step.reason);
  }
  std::erase_if(all, [](const Lemma* l) { return l->uses == 1 && !l->is_remembered; });
  std::sort(all.begin(), all.end(),
            [](const Lemma* a, const Lemma* b) { return a->serial < b->serial; });
  return all;
}

void ProofLog::WriteReason(const Reason& reason, std::string& text) const {
  switch (reason.kind) {
    case Reason::Kind::kLoad:
      text += " load";
      return Append(text, reason.what);
    case Reason::Kind::kHigh:
      text += " high";
      return Append(text, reason.what);
    case Reason::Kind::kLemma:
      break;
  }
  const Lemma& lemma = *reason.lemma;
  if (lemma.name != 0) {
    text += " lemma";
    return Append(text, lemma.name);
  }
  text += " branch";
  Append(text, lemma.section.value());
  Append(text, lemma.level);
  if (reason.origin != Reason::Origin::kSkipped) return;
  text += " in";
  AppendRanges(text, SectionsOf(lemma));
}

// The branches of `root` and of all that is not written elsewhere.
void ProofLog::WriteTree(const Lemma& root, std::string& text) const {
  std::vector<Open> path = {{&root, 0}};
  while (!path.empty()) {
    Open& open = path.back();
    if (open.next == open.lemma->steps.size()) {
      path.pop_back();
      continue;
    }
    const ProofStep& step = open.lemma->steps[open.next++];
    text += step.buffer < 0 ? "gap" : "on";
    if (step.buffer >= 0) Append(text, step.buffer);
    WriteReason(step.reason, text);
    text += '\n';
    if (IsWritten(step.reason)) path.push_back({step.reason.lemma.get(), 0});
  }
}

void ProofLog::WriteLemma(const Lemma& lemma, std::string& text) const {
  text += "known";
  Append(text, lemma.name);
  text += " grounds";
  const std::vector<std::int32_t> sections = SectionsOf(lemma);
  const Word* const placed = lemma.words.data() + section_words_;
  const std::size_t grounds = lemma.words.size() - sections.size();
  for (std::size_t k = 0; k < sections.size(); ++k) {
    Append(text, sections[k]);
    text += ':' + std::to_string(lemma.words[grounds + k]);
  }
  text += " buffers";
  std::vector<std::int32_t> buffers;
  for (std::size_t k = 0; k < lanes_.size(); ++k) {
    const Lane& lane = lanes_[k];
    if (TestBit(placed, k) || !Meets(lemma.words.data(), lane.first, lane.last)) continue;
    buffers.push_back(lane.buffer);
  }
  std::sort(buffers.begin(), buffers.end());
  buffers.erase(std::unique(buffers.begin(), buffers.end()), buffers.end());
  AppendRanges(text, buffers);
  text += "\nso branch";
  Append(text, lemma.section.value());
  Append(text, lemma.level);
  text += '\n';
  WriteTree(lemma, text);
}

void ProofLog::Write(std::string& text) const {
  const std::vector<const Lemma*> named = FindNamed();
  std::int64_t name = 0;
  for (const Lemma* lemma : named) {
    lemma->name = ++name;
    WriteLemma(*lemma, text);
  }
  text += "proof\nso";
  WriteReason(root_, text);
  text += '\n';
  if (IsWritten(root_)) WriteTree(*root_.lemma, text);
}

}  // namespace berth::internal::niche
