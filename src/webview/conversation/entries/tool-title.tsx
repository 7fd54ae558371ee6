import { titleParts } from '../../tools/title.ts'

interface ToolTitleProps {
  title: string
  cwd: string | undefined
  /** A command: shown as code whatever its backticks. */
  code?: boolean
}

/** A title on one line; of a path the end stays visible. */
export function ToolTitle({ title, cwd, code }: ToolTitleProps) {
  const parts = titleParts(title, cwd)
  return (
    <span class={`tool-title${parts.code || code ? ' code' : ''}`} dir="auto">
      {parts.head && <span class="tool-title-head">{parts.head}</span>}
      <span class="tool-title-tail">{parts.tail}</span>
    </span>
  )
}
