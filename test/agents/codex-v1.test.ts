import { describeCodex } from './codex.ts'

describeCodex(1)
