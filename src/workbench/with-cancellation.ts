import * as vscode from 'vscode'

/** Runs `work` with a cancellation token, as VS Code's API takes it, that is canceled when the signal aborts. */
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
