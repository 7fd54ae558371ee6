import type { NavigateTo } from '../../../bridge/conversation.ts'
import { hasModifier } from '../../ui/control-key.ts'
import { toggled } from '../composer/allowance.tsx'
import type { App } from '../context.ts'
import { navigate } from './navigation.ts'

/** Handles the keys that work wherever the focus is in the view. */
export function onViewKey(event: KeyboardEvent, app: App): void {
  if (event.isComposing || event.defaultPrevented || app.page.peek() !== 'conversation') return
  const target = event.target instanceof HTMLElement ? event.target : undefined
  const typing = target?.matches('textarea, input, select, [contenteditable]') ?? false
  const plain = !event.ctrlKey && !event.metaKey && !event.altKey
  const find = app.find.shown
  if (find && plain && (event.key === 'F3' || event.key === 'Escape')) {
    event.preventDefault()
    if (event.key === 'Escape') find.close()
    else find.step(event.shiftKey ? -1 : 1)
    return
  }
  // outside of recordings, a command of VS Code opens find
  if (event.key === 'f' && !plain && !event.altKey && app.store.head.peek()?.recording) {
    event.preventDefault()
    void app.find.open()
    return
  }
  if (event.key === 'Escape' && plain) {
    const { activity, phase } = app.store.head.peek() ?? {}
    const opens = phase === 'starting' || phase === 'loading'
    if (opens || activity === 'running' || activity === 'requires_action') {
      event.preventDefault()
      app.host.send('conversation/cancel')
    }
    return
  }
  if (answersAtOnce(event, target) || togglesAllowance(event, app)) return
  // the composer doesn't use keys with Alt, but other fields may
  const inComposer = target?.closest('.composer-text') != null
  const alt = event.altKey && !event.ctrlKey && !event.metaKey && (!typing || inComposer)
  const to = alt ? readJump(event) : undefined
  if (to) {
    event.preventDefault()
    navigate(app, to)
    return
  }
  // popups handle their keys themselves
  if (typing || !plain || target?.closest('.popup')) return
  // move between lines of work, however far apart
  const transcript = target?.closest<HTMLElement>('.transcript')
  if (transcript && (moveFocus(event, transcript, 'button.line') || unfold(event, target))) return
  if (transcript && isScrollKey(event)) {
    const isInRow = target?.matches('.row :is(button, a, summary)') && !target.closest('.permission, form')
    // otherwise, the focused element would be scrolled out of view
    if (isInRow) transcript.focus({ preventScroll: true })
    if ((isInRow || target === transcript) && scroll(event, app)) return
  }
  if (/^[1-9]$/.test(event.key) && answer(event, app, Number(event.key))) return
  // in a focused request, Enter selects its first choice, unless a button has the focus
  if (event.key === 'Enter' && target && !target.closest('button, a, summary')) {
    const box = target.closest('.permission') ?? firstQuestion()
    const primary = box?.querySelector<HTMLElement>('[data-primary]')
    if (primary) {
      event.preventDefault()
      primary.click()
    }
    return
  }
  // letters typed anywhere go to the composer
  if (event.key.length === 1 && event.key !== ' ') {
    event.preventDefault()
    app.composer.current?.type(event.key)
  }
}

/** The share of the view that a page key scrolls, so that some lines of the previous page stay in view. */
const PAGE = 7 / 8

function scroll(event: KeyboardEvent, { list }: App): boolean {
  switch (event.key) {
    case 'Home':
      list.toTop()
      break
    case 'End':
      list.toEnd()
      break
    case 'PageUp':
      list.scrollBy(-PAGE)
      break
    case 'PageDown':
      list.scrollBy(PAGE)
      break
    default:
      return false
  }
  event.preventDefault()
  return true
}

function isScrollKey({ key, shiftKey }: KeyboardEvent): boolean {
  return !shiftKey && ['ArrowUp', 'ArrowDown', 'PageUp', 'PageDown', 'Home', 'End'].includes(key)
}

/** As in a tree, the right arrow expands a line and the left arrow collapses it (reversed in right-to-left languages). */
function unfold(event: KeyboardEvent, target: HTMLElement | undefined): boolean {
  if (event.shiftKey || !target?.matches('button.line[aria-expanded]')) return false
  const [inwards, outwards] =
    getComputedStyle(target).direction === 'rtl' ? ['ArrowLeft', 'ArrowRight'] : ['ArrowRight', 'ArrowLeft']
  if (event.key !== inwards && event.key !== outwards) return false
  event.preventDefault()
  if ((target.getAttribute('aria-expanded') === 'true') !== (event.key === inwards)) target.click()
  return true
}

/** Returns the navigation command of a key with Alt. */
function readJump(event: KeyboardEvent): NavigateTo | undefined {
  switch (event.key) {
    case 'ArrowUp':
      return event.shiftKey ? undefined : 'previousTurn'
    case 'ArrowDown':
      return event.shiftKey ? 'question' : 'nextTurn'
    case 'Home':
      return 'first'
    case 'End':
      return 'latest'
  }
}

/** In a focused permission request, Ctrl+Enter allows once and Ctrl+Backspace rejects once. */
function answersAtOnce(event: KeyboardEvent, target: HTMLElement | undefined): boolean {
  const control = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey
  const kind = { Enter: 'allow_once', Backspace: 'reject_once' }[event.key]
  if (!control || kind === undefined || target?.closest('.popup')) return false
  const button = target?.closest('.permission')?.querySelector<HTMLElement>(`[data-kind="${kind}"]`)
  if (!button) return false
  event.preventDefault()
  button.click()
  return true
}

/** Handles Ctrl+., as in VS Code's chat: lets the agent edit without asking, or makes it ask again. Returns false for other keys. */
function togglesAllowance(event: KeyboardEvent, { host, store }: App): boolean {
  const allowance = store.head.peek()?.allowance
  // some keyboards have this character only with Shift
  if (event.key !== '.' || !(event.ctrlKey || event.metaKey) || event.altKey || !allowance) return false
  event.preventDefault()
  if (!event.repeat) host.send('conversation/allow', { allowed: toggled(allowance) })
  return true
}

function firstQuestion(): Element | null {
  return document.querySelector('.permission.first')
}

/** Selects the option with this number in the focused request, else in the oldest one. */
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

/**
 * Moves the focus among the elements of one kind inside of a container: up and down by one, Home and End to the ends.
 * @returns whether the key was one of these
 */
export function moveFocus(event: KeyboardEvent, container: Element, selector: string): boolean {
  if (hasModifier(event)) return false
  const target = event.target instanceof Element ? event.target.closest(selector) : null
  if (!target) return false
  const all = [...container.querySelectorAll<HTMLElement>(selector)]
  const next = nextElement(event.key, all, all.indexOf(target as HTMLElement))
  if (next === undefined) return false
  event.preventDefault()
  next.focus()
  return true
}

function nextElement(key: string, all: readonly HTMLElement[], at: number): HTMLElement | undefined {
  switch (key) {
    case 'ArrowDown':
      return all[Math.min(all.length - 1, at + 1)]
    case 'ArrowUp':
      return all[Math.max(0, at - 1)]
    case 'Home':
      return all[0]
    case 'End':
      return all.at(-1)
  }
}
