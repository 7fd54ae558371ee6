import type { Signal } from '@preact/signals'
import type { ComponentChildren, VNode } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { ListController } from './controller.ts'
import type { ListWindow, WindowItem } from './window.ts'

interface VirtualListProps<T extends WindowItem> {
  window: ListWindow<T>
  controller: ListController<T>
  /** changes when rows were added, removed or moved */
  version: Signal<number>
  class: string
  label: string
  /** the ID of the element that contains the rows */
  id?: string
  /** false if another element, such as a search field, has the focus and controls the list */
  focusable?: boolean
  role: 'log' | 'listbox'
  /** whether several rows can be selected together */
  multiselectable?: boolean
  rowClass: (item: T) => string
  renderRow: (item: T) => ComponentChildren
  /** `data-vscode-context` of a row, as JSON */
  rowContext?: (item: T) => string | undefined
  /** content below the rows, which scrolls with them */
  footer?: ComponentChildren
}

/** A list of any length that has only the rows near the view in the page. */
export function VirtualList<T extends WindowItem>(props: VirtualListProps<T>) {
  const { window: rows, controller, focusable = true } = props
  void props.version.value
  const { start, end } = controller.toDraw()
  const element = useRef<HTMLDivElement>(null)
  const top = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const bottom = useRef<HTMLDivElement>(null)

  useLayoutEffect(
    () => controller.attach(element.current!, top.current!, content.current!, bottom.current!),
    [controller],
  )
  useLayoutEffect(() => controller.layout())

  const mounted = useRows(props, start, Math.min(end, rows.count))
  return (
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: it has a label only where it has a role
    <div
      ref={element}
      class={`list ${props.class}`}
      role={focusable ? 'region' : undefined}
      aria-label={focusable ? props.label : undefined}
      tabIndex={focusable ? 0 : -1}
      onScroll={() => controller.onScroll()}
    >
      <div ref={content} class="list-content">
        {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: every role that it may have takes a label */}
        <div
          id={props.id}
          role={props.role}
          aria-label={props.label}
          aria-multiselectable={props.multiselectable}
          aria-live="off"
        >
          <div ref={top} role="presentation" />
          {mounted}
          <div ref={bottom} role="presentation" />
        </div>
        {props.footer}
      </div>
    </div>
  )
}

interface Drawn {
  class: string
  row: VNode
}

/** Returns the rows of a part of the list. Existing rows aren't rendered again, since they observe their own changes. */
function useRows<T extends WindowItem>(props: VirtualListProps<T>, start: number, end: number): VNode[] {
  const { controller, renderRow, rowClass, rowContext } = props
  const before = useRef<{ renderRow: unknown; rows: Map<T, Drawn> } | undefined>(undefined)
  const known = before.current?.renderRow === renderRow ? before.current.rows : undefined
  const rows = new Map<T, Drawn>()
  const mounted = props.window.items.slice(start, end).map(item => {
    const className = rowClass(item)
    let drawn = known?.get(item)
    if (drawn?.class !== className) {
      const row = (
        <ListRow
          key={item.key}
          item={item}
          controller={controller}
          class={className}
          context={rowContext?.(item)}
          renderRow={renderRow}
        />
      )
      drawn = { class: className, row }
    }
    rows.set(item, drawn)
    return drawn.row
  })
  before.current = { renderRow, rows }
  return mounted
}

interface ListRowProps<T extends WindowItem> {
  item: T
  controller: ListController<T>
  class: string
  context: string | undefined
  renderRow: (item: T) => ComponentChildren
}

function ListRow<T extends WindowItem>(props: ListRowProps<T>) {
  const { item, controller, class: className, context, renderRow } = props
  const element = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => controller.rows.mount(element.current!, item), [controller, item])
  return (
    <div ref={element} class={className} data-vscode-context={context}>
      {renderRow(item)}
    </div>
  )
}
