// The first screen: where to drop a file.
import { type Child, h } from "../../../src/report/app/src/dom";
import { bytes } from "../../../src/report/app/src/format";
import { button } from "../../../src/report/app/src/parts";
import { toggleTheme } from "../../../src/report/app/src/theme";
import type { File } from "../messages";

export interface Example {
  name: string;
  title: string;
  bytes: Uint8Array;
}

export function welcome(
  examples: Example[],
  take: (files: globalThis.File[]) => void,
  paste: (text: string) => void,
  show: (files: File[]) => void,
): HTMLElement[] {
  const input = h("input", {
    type: "file",
    id: "file",
    class: "sr",
    multiple: true,
    tabindex: "-1",
    "aria-label": "Choose a file, or two plans",
  }) as HTMLInputElement;
  input.addEventListener("change", () => take([...(input.files ?? [])]));
  const text = h("textarea", {
    id: "pasted",
    rows: "8",
    spellcheck: "false",
    placeholder: "id,lower,upper,size\na,0,3,4096\nb,3,5,4096\nc,2,4,2048",
  }) as HTMLTextAreaElement;
  const table = h(
    "details",
    { class: "paste" },
    h("summary", {}, "Paste a table or a graph"),
    h("label", { for: "pasted" }, "A table of buffers in CSV, or a graph in JSON"),
    text,
    button("Plan it", () => paste(text.value.trim() ? text.value : text.placeholder)),
  );
  const kinds: [string, string][] = [
    ["Models", "ONNX, TensorFlow Lite"],
    ["Graphs of operators", "JSON, PyTorch Inductor"],
    ["Tables of buffers", "CSV"],
    ["Memory snapshots", "of PyTorch"],
    ["Plans of Berth", "JSON; two are compared"],
  ];
  return [
    h(
      "main",
      { class: "welcome" },
      h(
        "div",
        { class: "corner" },
        h("span", { class: "brand" }, "Berth"),
        button("◐", toggleTheme, "Light or dark"),
      ),
      h("h1", {}, "Does your model fit?"),
      h(
        "p",
        { class: "lead" },
        "Drop a model: see how much memory it needs, what its peak consists of, and plan it again " +
          "for any memory while a slider moves.",
      ),
      h(
        "div",
        { class: "drop" },
        h(
          "div",
          {},
          h("p", { class: "drop-title" }, "Drop a file here"),
          button("Choose a file", () => input.click()),
          input,
        ),
        h(
          "dl",
          { class: "kinds" },
          ...kinds.flatMap(([what, how]): Child[] => [h("dt", {}, what), h("dd", {}, how)]),
        ),
      ),
      h(
        "div",
        { class: "examples" },
        h("h2", {}, "Or take an example"),
        h(
          "ul",
          {},
          ...examples.map((example) =>
            h(
              "li",
              {},
              h(
                "button",
                { type: "button", onclick: () => show([example]) },
                h("b", {}, example.title),
                h("small", {}, `${example.name}, ${bytes(example.bytes.length)}`),
              ),
            ),
          ),
        ),
      ),
      table,
      h(
        "p",
        { class: "promise" },
        h("b", {}, "Nothing leaves this computer. "),
        "The planner runs in this page, without a network: the page's policy blocks every request. " +
          "Files may have up to 1 GiB.",
      ),
    ),
  ];
}
