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

/** What the page keeps through a reload; anything may have been kept. */
export function keptState(): Record<string, unknown> {
  const state = vscodeApi().getState()
  return typeof state === 'object' && state !== null ? { ...state } : {}
}

/** Keeps these values. What else the page keeps stays. */
export function keepState(values: Record<string, unknown>): void {
  vscodeApi().setState({ ...keptState(), ...values })
}
