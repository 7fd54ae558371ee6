import * as vscode from 'vscode'

/** Passes work the token that VS Code's API takes for a signal. */
export async function withCancellation<T>(
  signal: AbortSignal | undefined,
  work: (token: vscode.CancellationToken) => PromiseLike<T>,
): Promise<T> {
  const source = new vscode.CancellationTokenSource()
  const cancel = () => source.cancel()
  signal?.addEventListener('abort', cancel, { once: true })
  if (signal?.aborted) cancel()
  try {
    return await work(source.token)
  } finally {
    signal?.removeEventListener('abort', cancel)
    source.dispose()
  }
}
