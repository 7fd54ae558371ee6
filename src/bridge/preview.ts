/**
 * A still picture of the end of a conversation. The page takes it, the host stores it and writes it into the page's HTML
 * the next time, so that the conversation is readable before the page's script runs. It contains texts, names of
 * elements and classes, and sizes, but no markup.
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

/** A text, the start of an element, or `null`, the end of the last element that isn't ended. */
export type PreviewPart = string | PreviewElement | null

export interface PreviewElement {
  tag: string
  class?: string
  dir?: 'auto' | 'ltr' | 'rtl'
  /** the number of the first item of an ordered list */
  start?: number
  /** width and height in pixels of an element that is left empty, such as an icon, an image or a formula */
  size?: [number, number]
}

/** The maximum length of a preview as JSON; without one, the page shows nothing before its script runs. */
export const MAX_PREVIEW_LENGTH = 60_000

/** The elements that a preview can contain, none of which loads or runs anything. `svg` represents an empty one. */
export const PREVIEW_TAGS: readonly string[] = (
  'div span section p h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code table thead tbody tr th td hr br ' +
  'a button em strong b i u s del ins sub sup kbd mark small svg'
).split(' ')
