/** VS Code's API for webviews, to communicate with the host and keep some state across reloads. */
export interface VsCodeApi {
  postMessage(message: unknown): void
  getState(): unknown
  setState(state: unknown): void
}

declare function acquireVsCodeApi(): VsCodeApi

let api: VsCodeApi | undefined

/** Returns the shared API object, since it can be acquired only once. */
export function vscodeApi(): VsCodeApi {
  api ??= acquireVsCodeApi()
  return api
}

/** Returns the page's stored state, which is unchecked. */
export function pageState(): Record<string, unknown> {
  const state = vscodeApi().getState()
  return typeof state === 'object' && state !== null ? { ...state } : {}
}

/** Stores these values in addition to the values already stored. */
export function storeState(values: Record<string, unknown>): void {
  vscodeApi().setState({ ...pageState(), ...values })
}
