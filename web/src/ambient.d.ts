// The loader that Emscripten writes beside engine.wasm.
declare module "@engine" {
  export default function createModule(options: object): Promise<unknown>;
}
declare module "node:fs/promises" {
  export function readFile(url: URL): Promise<Uint8Array<ArrayBuffer>>;
}
