//! Words of questions that at most a language model could answer.

/// A question with one of these unexplained is about another subject: knowledge, code, or life.
pub(super) const FOREIGN: &str = "function functions method methods algorithm algorithms recursion implement implementation refactor \
    optimize optimise translate summarize summarise poem haiku joke jokes story stories essay song songs lyrics recipe recipes \
    president capital country countries continent city cities river mountain movie movies book books flight flights hotel hotels \
    restaurant restaurants weather rain snow news react vue angular svelte component components endpoint endpoints button buttons \
    menu header footer sidebar navbar homepage landing css stylesheet font fonts color colour array arrays string strings integer \
    loop loops closure closures async await pointer pointers ownership iterator iterators constructor struct structs enum enums \
    schema column columns row rows regex regexp sql orm hook hooks dataframe dataframes matrix vowel vowels sentence paragraph \
    money bitcoin stock salary price job career resume company business customer customers startup life love universe sun moon \
    planet planets star stars earth ocean animal animals person people man woman men women child children friend friends boss \
    wife husband mother father mom dad dog cat brain heart god war century king queen football world africa asia europe america \
    germany france spain italy england usa china japan india london paris berlin tokyo rome york google facebook amazon spotify \
    netflix twitter instagram whatsapp email emails sandwich pizza coffee food wine dinner cake bread holiday vacation birthday \
    christmas easter philosophy physics chemistry biology mathematics math derivative integral equation hell heaven sleep bed \
    school gym marathon shopping linter frontend backend microservice microservices \
    dragon elden skyrim minecraft marketing design designs ui ux admin feature features bug bugs prototype neural \
    tutorial philosopher religion politics monad monads skill skills crime goldfish macbeth tonight worth kotlin calories ideas icon icons logo logos review invented inventor";
