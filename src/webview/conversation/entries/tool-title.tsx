import { type PathRoots, titleParts } from '../../tools/title.ts'

interface ToolTitleProps {
  title: string
  roots: PathRoots | undefined
  /** A command: shown as code whatever its backticks. */
  code?: boolean
}

/** A title on one line; of a path the end stays visible. */
export function ToolTitle({ title, roots, code }: ToolTitleProps) {
  const parts = titleParts(title, roots)
  return (
    <span class={`tool-title${parts.code || code ? ' code' : ''}`} dir="auto">
      {parts.head && <span class="tool-title-head">{parts.head}</span>}
      <span class="tool-title-tail">{parts.tail}</span>
    </span>
  )
}
