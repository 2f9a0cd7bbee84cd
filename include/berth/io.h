// berth/io.h -- everything that Berth reads and writes except ONNX models (berth/onnx.h).
//
// This header only includes the others; each can be included alone.
//
//   A buffer table (berth/table_io.h), from a file (berth/file.h) to its problem:
//
//     const auto text = berth::ReadFile("table.csv");
//     if (!text) return Complain(text.error().message);
//     const auto table = berth::ReadCsv(*text, "table.csv");
//     if (!table) return Complain(table.error().message);  // "table.csv:7:12: ..."
//     Use(table->problem);
//
//   The same table with the offsets of a plan, written as a whole or not at all:
//
//     berth::WriteFile("placed.csv", berth::WriteCsv(table->problem, &plan.offsets));
//
//   A graph of operators, and an order that somebody else chose (berth/graph_io.h):
//
//     const auto graph = berth::ReadGraphJson(*text, "net.json");
//     const auto order = berth::ReadOrder(*other, "order.json", *graph);
//
//   A plan, with where it came from, and back (berth/plan_io.h):
//
//     berth::Provenance provenance;
//     provenance.input = "table.csv";
//     provenance.input_hash = berth::HashOf(*text);
//     berth::WriteFile("plan.json", berth::WritePlanJson(table->problem, answer, provenance));
//     const auto plan = berth::ReadPlan(*json, "plan.json");
//
//   Sizes as people write them (berth/bytes.h):
//
//     berth::ParseBytes("1.5GiB");        // 1610612736
//     berth::FormatBytes(1610612736);     // "1.5 GiB"
#ifndef BERTH_IO_H_
#define BERTH_IO_H_

#include "berth/bytes.h"
#include "berth/file.h"
#include "berth/graph_io.h"
#include "berth/plan_io.h"
#include "berth/table_io.h"

#endif  // BERTH_IO_H_
