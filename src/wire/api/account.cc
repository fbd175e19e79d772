#include "wire/api/account.h"

namespace souk::wire {

SOUK_JSON_HERE(Account);
SOUK_JSON_HERE(NewAccount);
SOUK_JSON_HERE(Login);
SOUK_JSON_HERE(Session);
SOUK_JSON_HERE(NewPassword);
SOUK_JSON_HERE(Token);
SOUK_JSON_HERE(NewToken);
SOUK_JSON_HERE(IssuedToken);
SOUK_JSON_HERE(Grant);
SOUK_JSON_HERE(Freeze);
SOUK_JSON_HERE(Page<Account>);
SOUK_JSON_HERE(Page<Token>);
SOUK_JSON_HERE(CreditRequest);
SOUK_JSON_HERE(CreditRequests);
SOUK_JSON_HERE(NewCreditRequest);
SOUK_JSON_HERE(CreditAnswer);

}  // namespace souk::wire
