import { Button } from '@chakra-ui/react'
import type { ReactNode } from 'react'
import { t } from '../i18n/t.ts'
import { Notice } from './notice.tsx'

/** What the address says and nobody can read, with a button that takes it out. */
export const UnreadableNotice = ({ children, onClear }: { children: ReactNode; onClear: () => void }) => (
  <Notice
    tone="warning"
    isAlert
    action={
      <Button size="xs" onClick={onClear}>
        {t('清除')}
      </Button>
    }
  >
    {children}
  </Notice>
)
