import type { App } from './context.ts'
import { jumpTurn } from './turns.ts'

/** The keys that work wherever the focus is in the view. */
export function onViewKey(event: KeyboardEvent, app: App): void {
  if (event.isComposing || event.defaultPrevented) return
  const target = event.target instanceof HTMLElement ? event.target : undefined
  const typing = target?.matches('textarea, input, select, [contenteditable]') ?? false
  const plain = !event.ctrlKey && !event.metaKey && !event.altKey
  if (event.key === 'Escape' && plain) {
    const activity = app.store.head.peek()?.activity
    if (activity === 'running' || activity === 'requires_action') {
      event.preventDefault()
      app.host.cancel()
    }
    return
  }
  const vertical = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : undefined
  const empty = target instanceof HTMLTextAreaElement && target.value === ''
  if (vertical && event.altKey && !event.ctrlKey && !event.metaKey && (!typing || empty)) {
    event.preventDefault()
    jumpTurn(app, vertical)
    return
  }
  if (typing || !plain) return
  if (/^[1-9]$/.test(event.key) && answer(event, app, Number(event.key))) return
  // in the question itself Enter means its first choice, unless a button has the focus
  if (event.key === 'Enter' && target && !target.closest('button, a, summary')) {
    const box = target.closest('.permission') ?? firstQuestion()
    const primary = box?.querySelector<HTMLElement>('[data-primary]')
    if (primary) {
      event.preventDefault()
      primary.click()
    }
    return
  }
  // a letter typed anywhere belongs into the composer
  if (event.key.length === 1 && event.key !== ' ' && !target?.closest('.popup')) {
    event.preventDefault()
    app.composer.current?.type(event.key)
  }
}

function firstQuestion(): Element | null {
  return document.querySelector('.permission.first')
}

/** Takes the option with this number of the question that has the focus, else of the oldest one. */
function answer(event: KeyboardEvent, app: App, number: number): boolean {
  if (app.store.waiting.peek().length === 0) return false
  const target = event.target instanceof Element ? event.target : undefined
  const box = target?.closest('.permission') ?? firstQuestion()
  const button = box?.querySelector<HTMLElement>(`[data-option="${number}"]`)
  if (!button) return false
  event.preventDefault()
  button.click()
  return true
}
