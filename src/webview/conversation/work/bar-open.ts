import { type Signal, signal, useSignal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { useApp } from '../context.ts'

/** In less than this many pixels a question leaves the conversation no room beside what the bars show. */
const enough = 760

const low = signal(false)
const measure = () => {
  low.value = window.innerHeight < enough
}
measure()
window.addEventListener('resize', measure)

/**
 * Whether a bar above the composer is open. Where there is little room it closes by itself while a question waits, unless
 * it is opened then, and is as it was once the question is answered.
 */
export function useBarOpen(): Signal<boolean> {
  const { store } = useApp()
  const wanted = useSignal(false)
  const anyway = useSignal(false)
  const givesWay = store.asked.value && low.value
  useLayoutEffect(() => {
    anyway.value = false
  }, [givesWay, anyway])
  return givesWay ? anyway : wanted
}
