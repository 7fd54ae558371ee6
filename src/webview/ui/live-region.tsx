import { signal } from '@preact/signals'

const message = signal('')

/** Lets screen readers speak the text after their current speech. */
export function announce(text: string): void {
  // add a space, so that the same text twice is announced twice
  message.value = message.peek() === text ? `${text}\u00a0` : text
}

export function LiveRegion() {
  return (
    <div class="visually-hidden" role="status" aria-live="polite">
      {message}
    </div>
  )
}
