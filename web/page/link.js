// The page's side of the worker: calls that return promises, and events.

// The page demands Trusted Types: no string becomes a script or markup except through this policy,
// which the page asks for the worker below and for the pictures that the program draws.
export const trusted = globalThis.trustedTypes
  ? trustedTypes.createPolicy("tem", { createScriptURL: (url) => url, createHTML: (svg) => svg })
  : { createScriptURL: (url) => url, createHTML: (svg) => svg };

export function startWorker(source, onEvent, onFailure) {
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  // Not a module: for the module worker of a Blob the policy would have to allow scripts from
  // Blobs.
  const worker = new Worker(trusted.createScriptURL(url));
  const waiting = new Map();
  let last = 0;

  worker.addEventListener("message", ({ data }) => {
    if (data.event) return onEvent(data);
    const { resolve, reject } = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.error) reject(new Error(data.error));
    else resolve(data.result);
  });
  worker.addEventListener("error", onFailure);

  return (call, ...args) =>
    new Promise((resolve, reject) => {
      const id = ++last;
      waiting.set(id, { resolve, reject });
      worker.postMessage({ id, call, args });
    });
}
