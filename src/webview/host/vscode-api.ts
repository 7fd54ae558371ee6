/** What VS Code gives a webview to talk with its host and to keep a little state through a reload. */
export interface VsCodeApi {
  postMessage(message: unknown): void
  getState(): unknown
  setState(state: unknown): void
}

declare function acquireVsCodeApi(): VsCodeApi

let api: VsCodeApi | undefined

/** May be acquired once only: everyone shares it. */
export function vscodeApi(): VsCodeApi {
  api ??= acquireVsCodeApi()
  return api
}
