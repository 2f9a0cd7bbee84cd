// base/sanitizer.h -- whether AddressSanitizer watches this build: BERTH_ADDRESS_SANITIZER is 1 or 0.
#ifndef BERTH_BASE_SANITIZER_H_
#define BERTH_BASE_SANITIZER_H_

#define BERTH_ADDRESS_SANITIZER 0

#if defined(__SANITIZE_ADDRESS__)
#undef BERTH_ADDRESS_SANITIZER
#define BERTH_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#undef BERTH_ADDRESS_SANITIZER
#define BERTH_ADDRESS_SANITIZER 1
#endif
#endif

#endif  // BERTH_BASE_SANITIZER_H_
