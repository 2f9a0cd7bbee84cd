// Reads what `berth place` wrote: a table whose ids are numbers of requests.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "berth/runtime.h"

enum { kLine = 4096, kId = 0, kSize = 1, kOffset = 2, kWanted = 3 };
// Of a step. One row can ask for room for so many, so a damaged number must not take all memory.
static const uint64_t kMostRequests = (uint64_t)1 << 24;

typedef struct Table {
  const char* path;
  FILE* file;
  size_t line;
  int column[kWanted];  // Which column has it.
  berth_request* requests;
  size_t count;
  size_t room;
} Table;

static int Fail(const Table* table, char* error, const char* what) {
  if (error != NULL) {
    snprintf(error, BERTH_RUNTIME_ERROR, "%.120s:%zu: %.110s", table->path, table->line, what);
  }
  return 0;
}

// 1: a line without its end; 0: there are no more; -1: it is too long, or has a byte 0.
static int NextLine(Table* table, char line[kLine]) {
  if (fgets(line, kLine, table->file) == NULL) return 0;
  ++table->line;
  const size_t length = strcspn(line, "\r\n");
  if (line[length] == '\0' && !feof(table->file)) return -1;
  line[length] = '\0';
  return 1;
}

static int ReadHeader(Table* table, char* error) {
  static const char* const kNames[kWanted] = {"id", "size", "offset"};
  char line[kLine];
  for (int wanted = 0; wanted < kWanted; ++wanted) table->column[wanted] = -1;
  const int found = NextLine(table, line);
  if (ferror(table->file)) return Fail(table, error, "the file cannot be read");
  if (found != 1) return Fail(table, error, "there is no header");
  char* rest = line;
  for (int column = 0; rest != NULL; ++column) {
    char* const comma = strchr(rest, ',');
    if (comma != NULL) *comma = '\0';
    for (int wanted = 0; wanted < kWanted; ++wanted) {
      if (strcmp(rest, kNames[wanted]) == 0) table->column[wanted] = column;
    }
    rest = comma == NULL ? NULL : comma + 1;
  }
  for (int wanted = 0; wanted < kWanted; ++wanted) {
    if (table->column[wanted] < 0) {
      return Fail(table, error,
                  "a table with columns id, size and offset is wanted, as berth place writes it");
    }
  }
  return 1;
}

// A decimal number and nothing else.
static int ReadNumber(const char* text, uint64_t* number) {
  *number = 0;
  if (*text == '\0') return 0;
  for (; *text != '\0'; ++text) {
    if (*text < '0' || *text > '9' || *number > UINT64_MAX / 10 - 1) return 0;
    *number = 10 * *number + (uint64_t)(*text - '0');
  }
  return 1;
}

// Makes room for request `k`, and leaves those before it not planned.
static int Grow(Table* table, size_t k) {
  if (k >= table->room) {
    size_t room = table->room == 0 ? 1024 : table->room;
    while (room <= k) room *= 2;
    berth_request* const requests = realloc(table->requests, room * sizeof *requests);
    if (requests == NULL) return 0;
    table->requests = requests;
    table->room = room;
  }
  for (; table->count <= k; ++table->count) {
    table->requests[table->count] = (berth_request){1, BERTH_NOT_PLANNED};
  }
  return 1;
}

static int ReadRow(Table* table, char* line, char* error) {
  char* cells[kWanted] = {NULL, NULL, NULL};
  char* rest = line;
  for (int column = 0; rest != NULL; ++column) {
    char* const comma = strchr(rest, ',');
    if (comma != NULL) *comma = '\0';
    for (int wanted = 0; wanted < kWanted; ++wanted) {
      if (table->column[wanted] == column) cells[wanted] = rest;
    }
    rest = comma == NULL ? NULL : comma + 1;
  }
  uint64_t k = 0;
  berth_request request = {0, 0};
  if (cells[kId] == NULL || cells[kId][0] != 'r' || !ReadNumber(cells[kId] + 1, &k)) {
    return Fail(table, error, "an id such as r12 is wanted, the number of a request");
  }
  if (k >= kMostRequests) {
    return Fail(table, error, "the number of a request is too large: at most r16777215 is allowed");
  }
  if (cells[kSize] == NULL || !ReadNumber(cells[kSize], &request.size)) {
    return Fail(table, error, "the size is no number");
  }
  if (cells[kOffset] == NULL || !ReadNumber(cells[kOffset], &request.offset)) {
    return Fail(table, error, "the offset is no number");
  }
  if (!Grow(table, (size_t)k)) return Fail(table, error, "out of memory");
  if (table->requests[k].offset != BERTH_NOT_PLANNED) {
    return Fail(table, error, "this request has a row already");
  }
  table->requests[k] = request;
  return 1;
}

static int ReadRows(Table* table, char* error) {
  char line[kLine];
  for (int found; (found = NextLine(table, line)) != 0;) {
    if (found < 0) return Fail(table, error, "the line is too long, or has a byte 0");
    if (line[0] != '\0' && !ReadRow(table, line, error)) return 0;
  }
  if (ferror(table->file)) return Fail(table, error, "the file cannot be read");
  return 1;
}

berth_arena* berth_arena_read(const char* path, const berth_fallback* fallback, char* error) {
  Table table = {.path = path, .file = fopen(path, "r")};
  if (table.file == NULL) {
    if (error != NULL)
      snprintf(error, BERTH_RUNTIME_ERROR, "%.200s: the file cannot be opened", path);
    return NULL;
  }
  berth_arena* arena = NULL;
  if (ReadHeader(&table, error) && ReadRows(&table, error)) {
    char why[BERTH_RUNTIME_ERROR] = "";
    arena = berth_arena_new(table.requests, table.count, fallback, why);
    if (arena == NULL && error != NULL) {
      snprintf(error, BERTH_RUNTIME_ERROR, "%.100s: %.150s", path, why);
    }
  }
  free(table.requests);
  fclose(table.file);
  return arena;
}
