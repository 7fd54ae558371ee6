import { signal } from '@preact/signals'

/** The time in milliseconds since the epoch, updated once a second while the signal has observers. */
export const now = signal(Date.now(), {
  watched() {
    now.value = Date.now()
    timer = setInterval(() => {
      now.value = Date.now()
    }, 1000)
  },
  unwatched() {
    clearInterval(timer)
  },
})
let timer: ReturnType<typeof setInterval> | undefined
