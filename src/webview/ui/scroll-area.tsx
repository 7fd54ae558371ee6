import type { ComponentChildren, Ref } from 'preact'
import { visible } from '../../common/visible.ts'

interface ScrollAreaProps {
  label: string
  class: string
  children: ComponentChildren
  elementRef?: Ref<HTMLDivElement>
  onScroll?: (element: HTMLDivElement) => void
}

/** A part that scrolls by itself and can be reached, and so scrolled, with the keyboard. */
export function ScrollArea({ label, class: className, children, elementRef, onScroll }: ScrollAreaProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div
      ref={elementRef}
      class={className}
      role="group"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
      tabIndex={0}
      onScroll={onScroll && (event => onScroll(event.currentTarget))}
    >
      {children}
    </div>
  )
}

/** More of a text than this is not drawn. Characters. */
const longest = 24_000

interface PlainCodeProps {
  text: string
  /** break long lines instead of scrolling */
  wrap?: boolean
  /** A user decides on it: however long it is, and with what hides in it spelled out. */
  whole?: boolean
}

/** Text as it is, in the editor's font; a long one scrolls by itself. */
export function PlainCode({ text, wrap, whole }: PlainCodeProps) {
  const shown = whole ? visible(text) : text.length > longest ? `${text.slice(0, longest)}…` : text
  return (
    <pre
      class={`plain-code${wrap ? ' wrap' : ''}`}
      dir="ltr"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
      tabIndex={0}
    >
      {wrap ? options(shown) : shown}
    </pre>
  )
}

/** `--option` is not broken after its dashes, as a browser would. */
function options(text: string): ComponentChildren {
  return text.split(/(?<=\s)(-\S+)/).map((piece, i) =>
    i % 2 === 0 ? (
      piece
    ) : (
      <span key={i} class="unbroken">
        {piece}
      </span>
    ),
  )
}
