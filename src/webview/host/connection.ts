import {
  AbstractMessageReader,
  AbstractMessageWriter,
  createMessageConnection,
  type DataCallback,
  type Disposable,
  type Message,
  type MessageConnection,
} from 'vscode-jsonrpc/browser'
import { type VsCodeApi, vscodeApi } from './vscode-api.ts'

class WindowReader extends AbstractMessageReader {
  listen(callback: DataCallback): Disposable {
    const hear = (event: MessageEvent<unknown>) => {
      const message = event.data
      if (typeof message === 'object' && message !== null && 'jsonrpc' in message)
        callback(message as Message)
    }
    window.addEventListener('message', hear)
    return { dispose: () => window.removeEventListener('message', hear) }
  }
}

class ApiWriter extends AbstractMessageWriter {
  readonly #api: VsCodeApi

  constructor(api: VsCodeApi) {
    super()
    this.#api = api
  }

  async write(message: Message): Promise<void> {
    this.#api.postMessage(message)
  }

  end(): void {}
}

/** The webview's end of the bridge: vscode-jsonrpc over `postMessage`. Call `listen` when the handlers are in place. */
export function connectToHost(): MessageConnection {
  return createMessageConnection(new WindowReader(), new ApiWriter(vscodeApi()))
}
