import { signal } from '@preact/signals'

const message = signal('')

/** Tells screen readers what changed; said when they have finished what they say now. */
export function announce(text: string): void {
  // the same words twice are two messages
  message.value = message.peek() === text ? `${text}\u00a0` : text
}

export function LiveRegion() {
  return (
    <div class="visually-hidden" role="status" aria-live="polite">
      {message}
    </div>
  )
}
