import type { ComponentChildren, Ref } from 'preact'
import { visible } from '../../common/visible.ts'

interface ScrollAreaProps {
  label: string
  class: string
  children: ComponentChildren
  elementRef?: Ref<HTMLDivElement>
  onScroll?: (element: HTMLDivElement) => void
}

/** A scroll area that can be focused and scrolled with the keyboard. */
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

/** Longer text is truncated. Characters. */
const MAX_TEXT = 24_000

interface PlainCodeProps {
  text: string
  /** wrap long lines instead of scrolling */
  wrap?: boolean
  /** whether to show the complete text, with invisible characters spelled out, because the user must decide about it */
  whole?: boolean
}

/** Plain text in the editor's font; a long one has its own scroll area. */
export function PlainCode({ text, wrap, whole }: PlainCodeProps) {
  const shown = whole ? visible(text) : text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
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

/** Prevents line breaks after the dashes of `--option`. */
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
