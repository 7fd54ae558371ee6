import { signal } from '@preact/signals'

/** The time now in milliseconds since the epoch, once a second while somebody looks at it. */
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
