// Runs two models by onnxruntime on the same random inputs and compares what they compute, bit by bit.
//
// Usage: node run_both.js FIRST.onnx SECOND.onnx [SEED]
// Needs onnxruntime-node where node looks for modules (npm install --ignore-scripts onnxruntime-node,
// and NODE_PATH). Exit status: 0 the same, 1 different, 2 it cannot be told, 77 no onnxruntime-node.
'use strict';

let ort;
try {
  ort = require('onnxruntime-node');
} catch (error) {
  console.log('onnxruntime-node is not installed');
  process.exit(77);
}

// splitmix32: the same numbers on every machine.
function makeRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return ((z ^ (z >>> 16)) >>> 0) / 2 ** 32;
  };
}

// Reals are positive and, of matrices and kernels, 1 in the sum over what is added up: so values keep
// their size from layer to layer, however many there are.
const kinds = {
  float32: (n, random, scale) => Float32Array.from({length: n}, () => random() * scale),
  float64: (n, random, scale) => Float64Array.from({length: n}, () => random() * scale),
  int32: (n, random) => Int32Array.from({length: n}, () => Math.floor(random() * 2)),
  int64: (n, random) => BigInt64Array.from({length: n}, () => BigInt(Math.floor(random() * 2))),
  uint8: (n, random) => Uint8Array.from({length: n}, () => Math.floor(random() * 2)),
  int8: (n, random) => Int8Array.from({length: n}, () => Math.floor(random() * 2)),
  bool: (n, random) => Uint8Array.from({length: n}, () => Math.floor(random() * 2)),
};

function makeInputs(session, seed) {
  const random = makeRandom(seed);
  const inputs = {};
  for (const input of session.inputMetadata) {
    const shape = input.shape.map((dim) => (typeof dim === 'number' && dim >= 0 ? dim : 1));
    const make = kinds[input.type];
    if (make === undefined) throw new Error(`input ${input.name} of type ${input.type}`);
    const count = shape.reduce((product, dim) => product * dim, 1);
    const scale = shape.length < 2 ? 1 : 2 * Math.max(shape[0], 1) / Math.max(count, 1);
    inputs[input.name] = new ort.Tensor(input.type, make(count, random, scale), shape);
  }
  return inputs;
}

async function main() {
  const [first, second, seed] = process.argv.slice(2);
  // As the nodes stand in the file: nothing is fused or moved.
  const options = {graphOptimizationLevel: 'disabled', intraOpNumThreads: 1, logSeverityLevel: 3};
  const a = await ort.InferenceSession.create(first, options);
  const b = await ort.InferenceSession.create(second, options);
  const inputs = makeInputs(a, Number(seed || 1));
  const results = [await a.run(inputs), await b.run(inputs)];
  let elements = 0;
  let distinct = new Set();
  for (const name of a.outputNames) {
    const x = results[0][name];
    const y = results[1][name];
    if (y === undefined || String(x.dims) !== String(y.dims) || x.type !== y.type) {
      console.log(`output ${name} differs in shape or type`);
      return 1;
    }
    for (let i = 0; i < x.data.length; ++i) {
      if (!Object.is(x.data[i], y.data[i])) {
        console.log(`output ${name}: element ${i} is ${x.data[i]} and ${y.data[i]}`);
        return 1;
      }
      if (typeof x.data[i] === 'number' && !Number.isFinite(x.data[i])) {
        console.log(`output ${name}: element ${i} is ${x.data[i]}: these inputs tell nothing`);
        return 2;
      }
      if (distinct.size < 10) distinct.add(x.data[i]);
    }
    elements += x.data.length;
  }
  console.log(`${a.outputNames.length} outputs, ${elements} elements, at least ${distinct.size} ` +
              'different values: the same');
  return elements > 0 && distinct.size > 1 ? 0 : 2;
}

main().then((status) => process.exit(status), (error) => {
  console.log(String(error));
  process.exit(2);
});
