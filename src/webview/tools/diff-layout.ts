import { computed, signal } from '@preact/signals'

/** The user's layout for diffs if there is space for both sides, stored in the settings by the host. */
export const wantsSideBySide = signal(true)

/** Narrower views show inline diffs. CSS pixels. */
const MIN_SIDE_BY_SIDE = 720

const viewWidth = signal(typeof window === 'undefined' ? 0 : window.innerWidth)
if (typeof window !== 'undefined')
  window.addEventListener('resize', () => {
    viewWidth.value = window.innerWidth
  })

/** Whether there is space for only one column of line numbers. */
export const isNarrow = computed(() => viewWidth.value < 340)

/** Whether there is space for two sides. */
export const canBeSideBySide = computed(() => viewWidth.value >= MIN_SIDE_BY_SIDE)
export const isSideBySide = computed(() => canBeSideBySide.value && wantsSideBySide.value)
