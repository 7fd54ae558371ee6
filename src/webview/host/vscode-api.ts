/** VS Code's API for webviews, to communicate with the host and keep some state across reloads. */
export interface VsCodeApi {
  postMessage(message: unknown): void
  getState(): unknown
  setState(state: unknown): void
}

declare function acquireVsCodeApi(): VsCodeApi

let api: VsCodeApi | undefined

/** Shared, since it can be acquired only once. */
export function vscodeApi(): VsCodeApi {
  api ??= acquireVsCodeApi()
  return api
}

/** The page's stored state, which may contain anything. */
export function pageState(): Record<string, unknown> {
  const state = vscodeApi().getState()
  return typeof state === 'object' && state !== null ? { ...state } : {}
}

/** Stores these values in addition to the already stored ones. */
export function storeState(values: Record<string, unknown>): void {
  vscodeApi().setState({ ...pageState(), ...values })
}
