import { signal, useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { type App, type ComposerPort, useApp } from '../context.ts'

/** This long after the last key the user is no longer typing, in milliseconds. */
const quiet = 400

/** Counts what was drawn after it came, since it had to be loaded: until then there is nothing to focus. */
export const questionsDrawn = signal(0)

const scrollKeys = new Set(['PageUp', 'PageDown', 'Home', 'End'])

/**
 * A question that comes while the user is not writing takes the focus, so that a digit or Enter answers it. Never while
 * there is text in the composer, nor right after a key was pressed: then it waits a moment. Of several, the first is
 * brought into view; answering it leads to the next, and the last one back to the end.
 */
export function useQuestionFocus(): void {
  const app = useApp()
  const { store, list, composer } = app
  const lastKey = useRef(0)
  /** the view was brought to a question, and the user did not scroll elsewhere since */
  const brought = useRef(false)
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      lastKey.current = performance.now()
      if (scrollKeys.has(event.key)) brought.current = false
    }
    const scroll = (event: Event) => {
      // a press counts on the scroll bar alone
      if (event.type !== 'pointerdown' || (event.target as Element).matches('.transcript'))
        brought.current = false
    }
    const scrolls = ['wheel', 'touchmove', 'pointerdown'] as const
    window.addEventListener('keydown', key, true)
    for (const type of scrolls) window.addEventListener(type, scroll, { capture: true, passive: true })
    return () => {
      window.removeEventListener('keydown', key, true)
      for (const type of scrolls) window.removeEventListener(type, scroll, true)
    }
  }, [])
  useSignalEffect(() => {
    const [first] = store.waiting.value
    void questionsDrawn.value
    if (first === undefined) {
      if (brought.current) list.toEnd()
      brought.current = false
      return
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    let frame = 0
    const offer = () => {
      if (isBusy(composer.current)) return
      const rest = lastKey.current + quiet - performance.now()
      if (rest > 0) timer = setTimeout(offer, rest)
      // after the box is drawn; on a busy machine that takes time enough to begin with something else
      else {
        const asked = lastKey.current
        frame = requestAnimationFrame(() => {
          if (lastKey.current !== asked) offer()
          else if (!isBusy(composer.current)) focusQuestion()
        })
      }
    }
    if (list.following.peek() || brought.current) {
      // after the rows of this change are measured
      frame = requestAnimationFrame(() => {
        if (bringIntoView(app, first)) brought.current = true
        offer()
      })
    }
    return () => {
      clearTimeout(timer)
      cancelAnimationFrame(frame)
    }
  })
}

/** Scrolls to the question when it is not in view as a whole. Answers whether the view is held there now. */
function bringIntoView({ store, list }: App, id: string): boolean {
  const index = store.slot(id)?.index
  const row = index === undefined ? undefined : store.rows.rowsOf(index)[0]
  if (!row) return false
  const box = list.elementOf(row.key)?.getBoundingClientRect()
  const view = document.querySelector('.transcript')?.getBoundingClientRect()
  // without layout nothing has a height
  const inView = box && view && (box.height === 0 || (box.top >= view.top && box.bottom <= view.bottom + 1))
  if (!inView) list.toItem(row)
  return !list.following.peek()
}

/** The user is elsewhere, or at something in the view that is not to be left. */
function isBusy(composer: ComposerPort | undefined): boolean {
  if (!document.hasFocus()) return true
  const focused = document.activeElement
  if (composer && focused?.closest('.composer-text')) return !composer.isEmpty
  // in a question already: Enter there is not to become the answer to another one, nor another answer
  if (focused?.closest('[data-request]')) return true
  return focused !== document.body && !focused?.closest('.transcript')
}

function focusQuestion(): void {
  const box = document.querySelector<HTMLElement>('.permission.first')
  if (box) placeToAnswer(box).focus({ preventScroll: true })
}

/**
 * Where the focus belongs in a question: on the option for Enter, at any position; on a form's first
 * field; on the line of one that is folded; else on the box, where digits answer and Enter takes nothing.
 */
export function placeToAnswer(box: HTMLElement): HTMLElement {
  return (
    box.querySelector<HTMLElement>('[data-primary]') ??
    box.querySelector<HTMLElement>(':is(input, select), .behind > .line') ??
    box
  )
}
