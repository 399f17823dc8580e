// SPDX-License-Identifier: Apache-2.0
// Browsers start no workers for pages opened from a file. There, the script of a worker runs in a
// hidden frame instead, which takes and gives messages in the same way.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(script) {
      super()
      const address = new URL(script, document.baseURI).href
      const frame = document.createElement("iframe")
      frame.hidden = true
      frame.title = "search"
      this.started = new Promise((resolve) => {
        document.body.append(frame)
        const inside = frame.contentWindow
        inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
        const element = inside.document.createElement("script")
        element.src = address
        element.onload = () => resolve(inside)
        inside.document.body.append(element)
      })
    }

    postMessage(data) {
      this.started.then((inside) =>
        inside.dispatchEvent(new inside.MessageEvent("message", { data })),
      )
    }

    terminate() {}
  }
  window.Worker = window.IFrameWorker
}
