/* Steps of a program that knows nothing of Berth but berth_step(), if that is there: prints a sum of what
 * it has computed. steps COUNT [DEPART] -- from the step DEPART on it asks for other sizes. A
 * negative COUNT: as many steps without berth_step(). steps fork -- children that use memory, while other
 * threads of the parent do. steps realloc -- a release by realloc(). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kLayers = 40 };

static unsigned char* Make(size_t size, unsigned value) {
  void* block = NULL;
  if (posix_memalign(&block, 64, size) != 0 || (uintptr_t)block % 64 != 0) exit(3);
  memset(block, (int)(value % 251), size);
  return block;
}

static unsigned long Use(const unsigned char* block, size_t size, unsigned value) {
  for (size_t i = 0; i < size; ++i) {
    if (block[i] != value % 251) exit(4); /* Someone else has written here. */
  }
  return block[size / 2];
}

static atomic_int stopped;
/* Takes the lock of the arena without pause. Not by posix_memalign(): fork() stops that in the allocator. */
static void* Churn(void* block) {
  size_t sum = 0;
  while (!atomic_load(&stopped)) sum += malloc_usable_size(block);
  return sum == 0 ? block : NULL;
}

/* The number of children that did not end well. */
static int Forks(void (*step)(void)) {
  int bad = 0;
  pthread_t churning;
  for (int s = 1; s <= 4 && step != NULL; ++s) step();
  unsigned char* const block = Make(1000, 5); /* Of the arena, where the plan has one. */
  if (pthread_create(&churning, NULL, Churn, block) != 0) return -1;
  for (int i = 0; i < 400 && bad == 0; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      Use(block, 1000, 5);
      free(block);
      for (int k = 0; k < 10; ++k) free(Make(1000, 2));
      _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) ++bad;
  }
  atomic_store(&stopped, 1);
  pthread_join(churning, NULL);
  Use(block, 1000, 5);
  free(block);
  return bad;
}

/* Whether realloc() to no bytes is a release. */
static int ReleasesByRealloc(void) {
  unsigned char* volatile block = Make(1000, 5);
  const size_t none = strlen("");
  return realloc(block, none) == NULL;
}

int main(int argc, char** argv) {
  const int wanted = argc > 1 ? atoi(argv[1]) : 10;
  const int count = wanted < 0 ? -wanted : wanted;
  const int depart = argc > 2 ? atoi(argv[2]) : count + 1;
  void (*step)(void) = NULL;
  *(void**)&step = dlsym(RTLD_DEFAULT, "berth_step");
  if (argc > 1 && strcmp(argv[1], "fork") == 0) {
    const int bad = Forks(step);
    printf("%d children failed\n", bad);
    return bad == 0 ? 0 : 5;
  }
  if (argc > 1 && strcmp(argv[1], "realloc") == 0) {
    for (int s = 1; s <= 4 && step != NULL; ++s) step();
    return ReleasesByRealloc() ? 0 : 6;
  }
  unsigned long sum = 0;
  unsigned char* state[kLayers] = {NULL}; /* Made in the first step, kept for ever. */
  unsigned char* gradient[kLayers] = {NULL};
  for (int s = 1; s <= count; ++s) {
    if (step != NULL && wanted > 0) step();
    unsigned char* made[kLayers];
    size_t size[kLayers];
    for (int i = 0; i < kLayers; ++i) {
      free(gradient[i]); /* Of the step before. */
      gradient[i] = NULL;
      size[i] = (size_t)(1000 + 997 * (i % 7) + (s >= depart ? 64 * (i % 3) : 0));
      made[i] = Make(size[i], (unsigned)(s + i));
    }
    for (int i = kLayers; i-- > 0;) {
      if (state[i] == NULL) state[i] = Make(size[i], 7);
      gradient[i] = Make(size[i], (unsigned)(s * i));
      sum +=
          Use(made[i], size[i], (unsigned)(s + i)) + Use(gradient[i], size[i], (unsigned)(s * i));
      if (i % 5 == 0) made[i] = realloc(made[i], 2 * size[i]);
      sum += Use(made[i], size[i], (unsigned)(s + i)) + Use(state[i], 1000, 7);
      free(made[i]);
    }
  }
  printf("%lu\n", sum);
  return 0;
}
