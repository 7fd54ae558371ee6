import type { RefObject } from 'preact'
import { useCallback, useLayoutEffect, useRef } from 'preact/hooks'
import { hasModifier } from '../ui/control-key.ts'

const SEARCH = '.agents-search input'
const AGENT = '.agent'
const BUTTON = 'button:not(:disabled)'

/**
 * Keeps the keyboard focus on an agent when its buttons change, for example after an installation. Returns a key handler:
 * up and down move between agents, left and right between the buttons of an agent, Enter in the search field moves to the
 * first result, and Escape back to the search field.
 */
export function useAgentKeys(page: RefObject<HTMLElement | null>): (event: KeyboardEvent) => void {
  /** the agent that last had the focus, and the class of its focused button */
  const last = useRef<{ agent: string; button: string } | undefined>(undefined)
  useLayoutEffect(() => {
    // the page may have had the focus before it had content
    if (document.hasFocus() && document.activeElement === document.body)
      document.querySelector<HTMLElement>(SEARCH)?.focus()
    const onFocus = ({ target }: FocusEvent) => {
      const agent = target instanceof Element ? target.closest<HTMLElement>(AGENT)?.dataset.agent : undefined
      last.current = agent === undefined ? undefined : { agent, button: (target as Element).className }
    }
    const onPointer = () => {
      last.current = undefined
    }
    document.addEventListener('focusin', onFocus)
    document.addEventListener('pointerdown', onPointer)
    return () => {
      document.removeEventListener('focusin', onFocus)
      document.removeEventListener('pointerdown', onPointer)
    }
  }, [])
  useLayoutEffect(() => restoreFocus(last.current))
  // the buttons may have changed while a dialog had the focus
  useLayoutEffect(() => {
    const onReturn = () => restoreFocus(last.current)
    window.addEventListener('focus', onReturn)
    return () => window.removeEventListener('focus', onReturn)
  }, [])
  return useCallback(
    (event: KeyboardEvent) => {
      const { target, key } = event
      if (event.defaultPrevented || event.isComposing || !(target instanceof Element) || !page.current) return
      if (hasModifier(event)) return
      const next = nextElement(key, target, page.current)
      if (!next) return
      event.preventDefault()
      next.focus()
    },
    [page],
  )
}

/** Focuses the last focused button of the agent again, or else the agent's first button. */
function restoreFocus(last: { agent: string; button: string } | undefined): void {
  if (!last || !document.hasFocus() || document.activeElement !== document.body) return
  const agents = [...document.querySelectorAll<HTMLElement>(AGENT)]
  const agent = agents.find(({ dataset }) => dataset.agent === last.agent)
  const buttons = agent ? [...agent.querySelectorAll<HTMLElement>(BUTTON)] : []
  const same = buttons.find(({ className }) => className === last.button)
  const next = same ?? buttons[0] ?? document.querySelector<HTMLElement>(SEARCH)
  next?.focus()
}

function nextElement(key: string, target: Element, page: HTMLElement): HTMLElement | null | undefined {
  const search = page.querySelector<HTMLElement>(SEARCH)
  // skip agents without buttons
  const agents = [...page.querySelectorAll(AGENT)].filter(agent => agent.querySelector(BUTTON))
  const at = agents.findIndex(agent => agent.contains(target))
  const first = (index: number) => agents[index]?.querySelector<HTMLElement>(`.agent-buttons ${BUTTON}`)
  if (target === search) return key === 'ArrowDown' || key === 'Enter' ? first(0) : undefined
  if (at < 0) return undefined
  const buttons = [...(agents[at]?.querySelectorAll<HTMLElement>(BUTTON) ?? [])]
  const beside = (step: number) => buttons[buttons.indexOf(target as HTMLElement) + step]
  switch (key) {
    case 'ArrowDown':
      return first(at + 1)
    case 'ArrowUp':
      return at === 0 ? search : first(at - 1)
    case 'ArrowRight':
      return beside(1)
    case 'ArrowLeft':
      return beside(-1)
    case 'Home':
      return first(0)
    case 'End':
      return first(agents.length - 1)
    case 'Escape':
      return search
  }
}
