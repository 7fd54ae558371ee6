import { effect, signal, useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { type App, type ComposerPort, useApp } from '../context.ts'

/** Time after the last key until the user counts as no longer typing, in milliseconds. */
const TYPING_PAUSE_MS = 400

/** Increases when lazily loaded requests are rendered: before then, they have no element to focus. */
export const questionsDrawn = signal(0)

const scrollKeys = new Set(['PageUp', 'PageDown', 'Home', 'End'])

/**
 * Gives the focus to a request that arrives while the user isn't typing, so that a digit or Enter answers it: never while the composer has
 * text, and only a moment after the last key. Of several requests, the first is revealed; answering it reveals the next, and answering the
 * last one reveals the end.
 */
export function useQuestionFocus(): void {
  const app = useApp()
  const { store, list, composer } = app
  const lastKey = useRef(0)
  /** whether the view was scrolled to a request, and the user hasn't scrolled since */
  const brought = useRef(false)
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      lastKey.current = performance.now()
      if (scrollKeys.has(event.key)) brought.current = false
    }
    const scroll = (event: Event) => {
      // only a press on the scroll bar counts
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
  // Rows below an answered request stay in place. Runs before the answer is rendered, to measure the height.
  useEffect(() => {
    let before = { key: '', waiting: 0, start: undefined as number | undefined }
    return effect(() => {
      const now = {
        key: store.part('key').value ?? '',
        waiting: store.waiting.value.length,
        start: store.part('turnStartedAt').value,
      }
      const isIdle = store.part('activity').value === 'idle'
      const isNew = now.key !== before.key || (now.start !== undefined && now.start !== before.start)
      if (isNew || (isIdle && list.fits)) list.space.drop()
      else if (now.waiting < before.waiting) list.space.keep()
      before = now
    })
  }, [store, list])
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
      const rest = lastKey.current + TYPING_PAUSE_MS - performance.now()
      if (rest > 0) timer = setTimeout(offer, rest)
      // after the box is rendered; on a busy machine, the user may have started something else by then
      else {
        const asked = lastKey.current
        frame = requestAnimationFrame(() => {
          if (lastKey.current !== asked) offer()
          else if (!isBusy(composer.current)) focusQuestion()
        })
      }
    }
    if (list.following.peek() || brought.current) {
      // after the rows of this change were measured
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

/** Scrolls to the request unless it's completely in view. Returns whether the view stays there instead of following the end. */
function bringIntoView({ store, list }: App, id: string): boolean {
  const index = store.slot(id)?.index
  const row = index === undefined ? undefined : store.rows.rowsOf(index)[0]
  if (!row) return false
  const box = list.rows.elementOf(row.key)?.getBoundingClientRect()
  const view = document.querySelector('.transcript')?.getBoundingClientRect()
  // without a layout, heights are 0
  const inView = box && view && (box.height === 0 || (box.top >= view.top && box.bottom <= view.bottom + 1))
  if (!inView) list.toItem(row)
  return !list.following.peek()
}

/** Whether the user is outside of the view, or the focused element must keep the focus. */
function isBusy(composer: ComposerPort | undefined): boolean {
  if (!document.hasFocus()) return true
  const focused = document.activeElement
  if (composer && focused?.closest('.composer-text')) return !composer.isEmpty
  // the focus is already in a request: Enter there must not answer another request or select another option
  if (focused?.closest('[data-request]')) return true
  return focused !== document.body && !focused?.closest('.transcript')
}

function focusQuestion(): void {
  const box = document.querySelector<HTMLElement>('.permission.first')
  if (box) placeToAnswer(box).focus({ preventScroll: true })
}

/**
 * Returns the element to focus in a request: the option that Enter chooses, at any position; the first field of a form; the line of a
 * collapsed request; else the box, where digits answer and Enter does nothing.
 */
export function placeToAnswer(box: HTMLElement): HTMLElement {
  return (
    box.querySelector<HTMLElement>('[data-primary]') ??
    box.querySelector<HTMLElement>(':is(input, select), .behind > .line') ??
    box
  )
}
