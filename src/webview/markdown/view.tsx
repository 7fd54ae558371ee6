import { useSignalEffect } from '@preact/signals'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { lazy } from '../ui/lazy.tsx'
import { MarkdownDocument } from './document.ts'
import { drawBlock } from './draw.ts'
import { isLongFence } from './fence-info.ts'

/** Loaded on demand, since few code blocks are long. */
const LongFence = lazy(() => import('./long-fence.tsx').then(module => module.LongFence))

interface BlockProps {
  document: MarkdownDocument
  /** position of the block in its text */
  part: number
}

/** A block of a text. When the block changes, only it is redrawn, and its unchanged nodes stay. */
export function MarkdownBlockView({ document: text, part }: BlockProps) {
  const [isLong, setLong] = useState(() => isLongFence(text.blocks[part]))
  useSignalEffect(() => {
    void text.watch(part).value
    setLong(isLongFence(text.blocks[part]))
  })
  return isLong ? <LongFence document={text} part={part} /> : <DrawnBlock document={text} part={part} />
}

function DrawnBlock({ document: text, part }: BlockProps) {
  const element = useRef<HTMLDivElement>(null)
  // synchronously, so that the row is measured with its content
  useLayoutEffect(() => drawBlock(element.current!, text, part), [text, part])
  useSignalEffect(() => {
    void text.watch(part).value
    if (element.current) drawBlock(element.current, text, part)
  })
  return <div ref={element} class="prose" dir="auto" />
}

interface TextProps {
  text: string
  class?: string
}

/** A whole Markdown text that doesn't grow. */
export function MarkdownText({ text, class: className }: TextProps) {
  const [, setFlushed] = useState(0)
  const whole = useMemo(() => {
    const document = new MarkdownDocument()
    document.onFlushed = () => setFlushed(document.blocks.length)
    document.append(text)
    document.flush()
    return document
  }, [text])
  useEffect(() => () => whole.dispose(), [whole])
  return (
    <div class={`markdown-text${className ? ` ${className}` : ''}`}>
      {whole.blocks.map(block => (
        <MarkdownBlockView key={block.index} document={whole} part={block.index} />
      ))}
    </div>
  )
}
