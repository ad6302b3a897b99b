/** What the operator is notified of about payments. */
export const paymentTexts = {
  zh: {
    mismatch: '支付通知与订单不符：订单 <no> 收到签名有效但与订单不符（money）的支付通知，未入账，请核对。',
    refund: '订单已退款：订单 <no> 已退款 3.00 USD，额度尚未收回，请在订单管理中决定是否收回。',
    open: '订单拒付：订单 <no> 被付款人拒付，原因：fraudulent。',
    won: '订单拒付：订单 <no> 的拒付已撤销，原因：fraudulent，已恢复额度 $7.272728。',
    lost: '订单拒付：订单 <no> 的拒付已成立，原因：fraudulent。',
    part: '订单已退款：订单 <no>Y 已退款 3.00 USD，尚未入账，入账后请在订单管理中决定是否收回。',
    failed: '退款失败：订单 <no>Y 的退款 3.00 USD 失败，付款人没有收到，款项已退回商户，请处理退款或恢复额度。',
    early: '订单已退款：订单 <no>Y 已退款 11.00 USD，未入账，无需收回额度。',
    orphaned: '已支付订单的账户不存在：订单 <no>X 已支付，但下单的账户已被删除，未入账，请处理退款。',
  },
  en: {
    mismatch:
      'A payment does not fit its order：A payment notification for order <no> has a valid signature but does not fit the order (money). Nothing was credited. Please check.',
    refund:
      'An order was refunded：Order <no> was refunded 3.00 USD. Its credit is still there; decide in the orders whether to take it back.',
    open: 'A payment is disputed：Order <no> is disputed by its payer, reason: fraudulent.',
    won: 'A payment is disputed：Order <no> is disputed no more, reason: fraudulent. $7.272728 were credited again.',
    lost: 'A payment is disputed：Order <no> lost its dispute, reason: fraudulent.',
    part: 'An order was refunded：Order <no>Y was refunded 3.00 USD. Nothing is credited for it yet; once it is, decide in the orders whether to take it back.',
    failed:
      'A refund failed：A refund of 3.00 USD for order <no>Y failed: its payer did not get it, and the money is back at the gateway. Please refund it in another way, or give the credit again.',
    early: 'An order was refunded：Order <no>Y was refunded 11.00 USD. Nothing was credited for it.',
    orphaned:
      'The account of a paid order is gone：Order <no>X was paid, but its account has been deleted. Nothing was credited. Please refund it.',
  },
}

/** What users are notified of about their plans, in the order of the test; times are left out. */
export const planTexts = {
  zh: [
    '套餐已开通：套餐「Team」已开通，有效期至 <time>。',
    '套餐额度已用尽：套餐「Team」的 5 小时额度已用尽，<time> 起恢复。在此之前的调用将从余额扣费。',
    '套餐即将到期：套餐「Team」将于 <time> 到期，如需继续使用请及时续订。',
    '套餐已续期：套餐「Team」已续期，新的一期从 <time> 开始，有效期至 <time>。',
    '套餐已退款：套餐「Team」已终止并退款，$0.200000 已退回余额。',
    '套餐已到期：套餐「Team」已于 <time> 到期。',
    '套餐已开通：套餐「Team」已开通，有效期至 <time>。',
    '套餐已终止：套餐「Team」已由管理员终止。',
    '套餐已恢复：套餐「Team」已恢复，有效期至 <time>。',
  ],
  en: [
    'Your plan is active：The plan “Team” is active until <time>.',
    'Your plan is used up for now：What the plan “Team” pays in 5 hours is used up until <time>. Until then calls are charged to your balance.',
    'Your plan ends soon：The plan “Team” ends at <time>. Renew it to go on.',
    'Your plan is renewed：The plan “Team” is renewed: its next term begins at <time> and ends at <time>.',
    'Your plan was refunded：The plan “Team” was ended and refunded; $0.200000 went back to your balance.',
    'Your plan has ended：The plan “Team” ended at <time>.',
    'Your plan is active：The plan “Team” is active until <time>.',
    'Your plan was ended：The plan “Team” was ended by an administrator.',
    'Your plan is back：The plan “Team” is back until <time>.',
  ],
}
