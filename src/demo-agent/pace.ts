/** The turn was cancelled; nothing more may be done or said but to answer so. */
export class TurnCancelled extends Error {
  override readonly name = 'TurnCancelled'
}

/** Waits, and rejects with {@link TurnCancelled} as soon as the signal aborts. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new TurnCancelled())
    const stop = () => {
      clearTimeout(timer)
      reject(new TurnCancelled())
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, milliseconds)
    signal.addEventListener('abort', stop, { once: true })
  })
}

/** Cuts a text as a model would stream it: about a word at a time, spaces kept, so that the pieces joined are the text. */
export function pieces(text: string): string[] {
  return text.match(/\s*\S{1,24}\s*/gu) ?? (text ? [text] : [])
}
