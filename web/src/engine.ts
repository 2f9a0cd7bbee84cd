// Starts the module of WebAssembly.
import createModule from "@engine";
import { Abi, type Module } from "./abi";

type Imports = WebAssembly.Imports;

/** `wasm`: the bytes of engine.wasm, or the module that was compiled of them. */
export async function startEngine(wasm: BufferSource | WebAssembly.Module): Promise<Abi> {
  let failed: (reason: unknown) => void = () => {};
  const failure = new Promise<never>((_, reject) => (failed = reject));
  const started = createModule({
    instantiateWasm(imports: Imports, receive: (instance: WebAssembly.Instance) => void) {
      const compiled = wasm instanceof WebAssembly.Module ? wasm : WebAssembly.compile(wasm);
      Promise.resolve(compiled)
        .then((module) => WebAssembly.instantiate(module, imports))
        .then(receive)
        .catch(failed);
      return {};
    },
  });
  return new Abi((await Promise.race([started, failure])) as Module);
}
