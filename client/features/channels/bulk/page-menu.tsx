import { Button } from '@chakra-ui/react'
import { ChevronDown, FlaskConical, RefreshCw, Trash2, Wrench } from 'lucide-react'
import { ActionMenu } from '../../../components/action-menu.tsx'
import { t } from '../../../i18n/t.ts'
import type { ChannelActions } from '../use-channel-actions.ts'
import type { Runs } from './use-runs.ts'

/** What concerns all channels, whichever are shown. */
export function PageMenu({ actions, runs }: { actions: ChannelActions; runs: Runs }) {
  return (
    <ActionMenu
      label={t('批量操作')}
      trigger={(props) => (
        <Button {...props}>
          {t('批量操作')}
          <ChevronDown aria-hidden />
        </Button>
      )}
      actions={[
        {
          id: 'test',
          label: t('测试所有渠道'),
          icon: FlaskConical,
          onSelect: () => void runs.testAll(),
        },
        {
          id: 'balance',
          label: t('更新所有渠道余额'),
          icon: RefreshCw,
          onSelect: () => void runs.updateBalances(),
        },
        { id: 'fix', label: t('修复数据库一致性'), icon: Wrench, onSelect: () => void actions.fixAbilities() },
        {
          id: 'remove',
          label: t('删除所有已禁用的渠道'),
          icon: Trash2,
          danger: true,
          separated: true,
          onSelect: () => void actions.removeDisabled(),
        },
      ]}
    />
  )
}
