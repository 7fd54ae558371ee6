import type { ComponentChildren, RefObject } from 'preact'
import { createPortal } from 'preact/compat'
import { useLayoutEffect, useRef } from 'preact/hooks'

interface PopupProps {
  /** the element that the popup opens above or below; a click outside of both closes the popup */
  anchor: RefObject<HTMLElement | null>
  onClose: () => void
  children: ComponentChildren
  class?: string
  label: string
  /** at least as wide as the anchor */
  matchWidth?: boolean
}

const MARGIN = 8
/** Space between the popup and its anchor, in pixels. */
const GAP = 4
/** Maximum height in pixels; longer content scrolls. */
const MAX_HEIGHT = 240

/** A popup next to its anchor, inside of the window, which closes on Escape or a click elsewhere. */
export function Popup({ anchor, onClose, children, class: className, label, matchWidth }: PopupProps) {
  const element = useRef<HTMLDivElement>(null)

  useLayoutEffect(() => {
    const place = () => {
      if (element.current && anchor.current) placeBeside(element.current, anchor.current, matchWidth ?? false)
    }
    place()
    const observer = new ResizeObserver(place)
    observer.observe(element.current!)
    window.addEventListener('resize', place)
    return () => {
      observer.disconnect()
      window.removeEventListener('resize', place)
    }
  }, [anchor, matchWidth])

  // listens before the popup is visible, because an immediate Escape would otherwise stop the turn
  useLayoutEffect(() => {
    const press = (event: PointerEvent) => {
      const target = event.target as Node
      if (!element.current?.contains(target) && !anchor.current?.contains(target)) onClose()
    }
    const key = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      event.preventDefault()
      event.stopPropagation()
      onClose()
    }
    window.addEventListener('pointerdown', press, true)
    window.addEventListener('keydown', key, true)
    window.addEventListener('blur', onClose)
    return () => {
      window.removeEventListener('pointerdown', press, true)
      window.removeEventListener('keydown', key, true)
      window.removeEventListener('blur', onClose)
    }
  }, [anchor, onClose])

  return createPortal(
    <div ref={element} class={`popup${className ? ` ${className}` : ''}`} role="dialog" aria-label={label}>
      {children}
    </div>,
    document.body,
  )
}

/** Places the popup above or below its anchor, or over it if neither side has enough space; always inside of the window. */
function placeBeside(popup: HTMLElement, anchor: HTMLElement, matchWidth: boolean): void {
  const at = anchor.getBoundingClientRect()
  const { innerWidth, innerHeight } = window
  const { style } = popup
  style.minWidth = matchWidth ? `${Math.min(at.width, innerWidth - MARGIN * 2)}px` : ''
  style.maxWidth = `${innerWidth - MARGIN * 2}px`
  const below = innerHeight - at.bottom - GAP - MARGIN
  const above = at.top - GAP - MARGIN
  const wants = Math.min(MAX_HEIGHT, contentHeight(popup))
  const down = below >= wants || below >= above
  const room = Math.max(80, down ? below : above)
  const over = room < wants
  const [top, bottom] = over ? [MARGIN, MARGIN] : [at.bottom + GAP, innerHeight - at.top + GAP]
  style.maxHeight = `${over ? innerHeight - MARGIN * 2 : room}px`
  style.top = down !== over ? `${top}px` : 'auto'
  style.bottom = down !== over ? 'auto' : `${bottom}px`
  const width = popup.offsetWidth
  const rtl = getComputedStyle(document.body).direction === 'rtl'
  const wanted = rtl ? at.right - width : at.left
  style.left = `${Math.max(MARGIN, Math.min(wanted, innerWidth - width - MARGIN))}px`
}

/** Returns the height of the popup's content, including content that is scrolled out of view. */
function contentHeight(popup: HTMLElement): number {
  return [...popup.children].reduce((sum, part) => sum + part.scrollHeight, 0)
}
