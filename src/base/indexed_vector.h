// base/indexed_vector.h -- strongly typed indices, and arrays that accept only their own.
//
// struct BufferTag; using BufferIndex = Index<BufferTag>; an IndexedVector<BufferIndex, Bytes>
// takes a BufferIndex and nothing else. In release builds both are as cheap as an int and a
// pointer.
#ifndef BERTH_BASE_INDEXED_VECTOR_H_
#define BERTH_BASE_INDEXED_VECTOR_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"

namespace berth::internal {

template <typename Tag>
class Index {
 public:
  constexpr Index() = default;
  constexpr explicit Index(std::int32_t value) : value_(value) {}
  constexpr explicit Index(std::size_t value) : value_(static_cast<std::int32_t>(value)) {}

  [[nodiscard]] constexpr std::int32_t value() const { return value_; }
  [[nodiscard]] constexpr std::size_t position() const { return static_cast<std::size_t>(value_); }
  constexpr Index& operator++() {
    ++value_;
    return *this;
  }
  [[nodiscard]] constexpr Index next() const { return Index(value_ + 1); }
  [[nodiscard]] constexpr Index previous() const { return Index(value_ - 1); }
  friend constexpr auto operator<=>(Index, Index) = default;

 private:
  std::int32_t value_ = 0;
};

// All indices in [first, last), for range-based loops.
template <typename I>
class IndexRange {
 public:
  class Iterator {
   public:
    constexpr explicit Iterator(I index) : index_(index) {}
    constexpr I operator*() const { return index_; }
    constexpr Iterator& operator++() {
      ++index_;
      return *this;
    }
    friend constexpr bool operator==(Iterator, Iterator) = default;

   private:
    I index_;
  };
  constexpr IndexRange(I first, I last) : first_(first), last_(last < first ? first : last) {}
  [[nodiscard]] constexpr Iterator begin() const { return Iterator(first_); }
  [[nodiscard]] constexpr Iterator end() const { return Iterator(last_); }

 private:
  I first_;
  I last_;
};

template <typename I, typename T>
class IndexedVector {
 public:
  IndexedVector() = default;
  explicit IndexedVector(std::size_t size, const T& value = T()) : items_(size, value) {}

  decltype(auto) operator[](I index) {
    BERTH_DCHECK(index.position() < items_.size());
    return items_[index.position()];
  }
  decltype(auto) operator[](I index) const {
    BERTH_DCHECK(index.position() < items_.size());
    return items_[index.position()];
  }
  [[nodiscard]] std::size_t size() const { return items_.size(); }
  [[nodiscard]] bool empty() const { return items_.empty(); }
  void push_back(const T& value) { items_.push_back(value); }
  void resize(std::size_t size) { items_.resize(size); }
  void resize(std::size_t size, const T& value) { items_.resize(size, value); }
  void assign(std::size_t size, const T& value) { items_.assign(size, value); }
  void reserve(std::size_t size) { items_.reserve(size); }

  [[nodiscard]] IndexRange<I> indices() const { return {I(std::int32_t{0}), I(items_.size())}; }
  [[nodiscard]] auto begin() { return items_.begin(); }
  [[nodiscard]] auto end() { return items_.end(); }
  [[nodiscard]] auto begin() const { return items_.begin(); }
  [[nodiscard]] auto end() const { return items_.end(); }
  // The plain array, for loops too hot for checks and for the standard algorithms.
  [[nodiscard]] std::vector<T>& items() { return items_; }
  [[nodiscard]] const std::vector<T>& items() const { return items_; }

 private:
  std::vector<T> items_;
};

}  // namespace berth::internal

#endif  // BERTH_BASE_INDEXED_VECTOR_H_
