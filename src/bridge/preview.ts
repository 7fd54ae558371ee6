/**
 * A still picture of the end of a conversation. The page takes it. The host stores it, and writes it into the page's HTML when the
 * conversation is shown again, so that the conversation can be read before the page's script runs. It contains texts, names of elements and
 * classes, and sizes, but no markup.
 */
export interface Preview {
  /** the theme for which the colors were computed */
  themeId: string
  /** the page's own custom properties, which correct the theme's colors */
  colors: Record<string, string>
  title: string
  /** sizes in pixels: the space next to the title, the height below the conversation, and the composer's part of that */
  besideTitle: number
  dock: number
  composer: number
  rows: PreviewPart[]
}

/** A text, the start of an element, or `null`, which ends the last element that is still open. */
export type PreviewPart = string | PreviewElement | null

export interface PreviewElement {
  tag: string
  class?: string
  dir?: 'auto' | 'ltr' | 'rtl'
  /** the number of the first item of an ordered list */
  start?: number
  /** width and height in pixels of an element without content, such as an icon, an image or a formula */
  size?: [number, number]
}

/** The maximum length of a preview as JSON, in characters. Without a preview, the page shows nothing before its script runs. */
export const MAX_PREVIEW_LENGTH = 60_000

/** The names of elements that a preview can contain. None of them loads or runs anything. `svg` stands for an empty element. */
export const PREVIEW_TAGS: readonly string[] = (
  'div span section p h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code table thead tbody tr th td hr br ' +
  'a button em strong b i u s del ins sub sup kbd mark small svg'
).split(' ')
